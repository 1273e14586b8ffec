/**
 * SHA-256 of the reviewed binaries of uWebSockets.js and their names. test/supply/uws-binaries.test.ts compares them.
 * @module
 */

/** Keys are checksums, values the names of the files. */
export const uwsChecksums: Readonly<Record<string, string>> = {
  // @btc-vision/uwebsockets.js 20.57.0
  e92644395ac8d37cb078098f843fb1b82e59701832f38fed00a9bdcfb87ba939: 'uws_darwin_arm64_115.node',
  '6180345d453e2e113feb2b0d76376493cd6a90056c3483fc22de7b0c340dc231': 'uws_darwin_arm64_127.node',
  '2187391c702fa7ad3bf685eff7712c15cf24fa7cf324a131dfcbae3fd0f20a9a': 'uws_darwin_arm64_137.node',
  '8555586f69116620ac17540b2a7a2459c5db1cebee5c36fd77157dd352fabf82': 'uws_darwin_arm64_141.node',
  f661b97951ffdf54324e514becda0a2740f723c9fd3c7098e812a0e7714651ed: 'uws_darwin_x64_115.node',
  fd551673f3ce1f104d7cec3ba8f628d9d04853eff1045c9d95983372ed90bca0: 'uws_darwin_x64_127.node',
  '98fd7e9456e2d37d3262b05b053d673830927f91c63c0c2ae73bde8d19eef293': 'uws_darwin_x64_137.node',
  e64e8a42347b5f9861b0f2bfa0981d8e48914e9b26ec73e133ba454d9a580777: 'uws_darwin_x64_141.node',
  '6bdbc8ff976b4371af1906175e9025804bacc38a414969f4f02314e6b99f206c': 'uws_linux_arm64_115.node',
  '82b79bd18d1e3563de336156005bd01b7f39fc387b65173d69a29da4ee79f895': 'uws_linux_arm64_127.node',
  '88618b30ddf6b2b62310db89f40a701616676352aac5e0f6184dd8ef876199ce': 'uws_linux_arm64_137.node',
  '81d0186dd1549ed6a7f47e68e323573fc27d69d2920527654ce2dd993af2b0ec': 'uws_linux_arm64_141.node',
  '5b126ee00bf754b02e97e4c27090365a8562c5820c93f93918ac2212d4503e91': 'uws_linux_x64_115.node',
  '4b55b1f2cb7a7913febbb65a89496412b96af77e838552980092ba6b33723aac': 'uws_linux_x64_127.node',
  '98128405dba2fb608448e921a979530f70c946a2cc9889c15f2fa70c2d00ab05': 'uws_linux_x64_137.node',
  '813d788b347c6fd76b779d8932311ec05a044e612b4b83af220f16e6ea789683': 'uws_linux_x64_141.node',
  // uws-pack 20.0.8
  '5d523bccbe80d3d8fa59422ff81801b8179212b9a8a5da28bff6926a95a65701': 'uws_darwin_arm64_115.node',
  abbeea53d48e21c01808203e9f9835728f2cea720d2e5b154837ee3045b513be: 'uws_darwin_arm64_127.node',
  '1f2a5c73d9dc3066d39b675b73f2c50eddbc4f270d292a6126ddfe3757c54cf9': 'uws_darwin_x64_115.node',
  afd992dc1ca1e33cdc7ce0c72a60baf236e590a257fcecbbbce7bc1a35451387: 'uws_darwin_x64_127.node',
  c0e29fc143b46b584f3debec7910014ec228198fc1f17aaeacd1de7991bd3769: 'uws_linux_arm64_115.node',
  d4c4f8b2c28c5f6544b49e36d91b0beee238a5b90a07904a947f77061c8b814d: 'uws_linux_arm64_127.node',
  b02d5bc5ab08f040b6b9b818c3eb92806611f77a4dc2439a8f14cac827d498be: 'uws_linux_arm_115.node',
  '0e1d4024b629a1fe17ec76cde8fe7e320101eb8bdcf7b2c4086933932e3cea23': 'uws_linux_arm_127.node',
  '6f8d96d761a64beddb060f1f7f0e617dd293ed127ec1d57507aa561a0083171e': 'uws_linux_x64_115.node',
  '8cabc918bbf9a07323e54f89a33882491080b2eb35df0607f473ccdb1f3c31af': 'uws_linux_x64_127.node',
}
