/**
 * SHA-256 of the binaries of uWebSockets.js that package.json pins (uws-pack 20.0.8), by platform, architecture and ABI
 * of Node. test/supply/uws-binaries.test.ts checks it against the package, and prints the new table after an update.
 * @module
 */

/** Keys as in the files' names, `uws_linux_x64_115.node`. */
export const uwsChecksums: Readonly<Record<string, string>> = {
  darwin_arm64_108: '5b8a491e3e772ce069dc6aaf0490892d2f6beea4adba1f62e71f3cd58bca19fd',
  darwin_arm64_115: '5d523bccbe80d3d8fa59422ff81801b8179212b9a8a5da28bff6926a95a65701',
  darwin_arm64_120: '98ffa032aeb84b98d432502738871c5748f6a636536d5705702c4985925a41ae',
  darwin_arm64_127: 'abbeea53d48e21c01808203e9f9835728f2cea720d2e5b154837ee3045b513be',
  darwin_x64_108: 'f24bde344f238b7174b2d5641551e618cf98217b2f7fb59e7cd525996bf7ac9f',
  darwin_x64_115: '1f2a5c73d9dc3066d39b675b73f2c50eddbc4f270d292a6126ddfe3757c54cf9',
  darwin_x64_120: '3dc10babf35b3ce5d4edc7deaddf912a5a72a0ac7ad52b098dbe430c3c540313',
  darwin_x64_127: 'afd992dc1ca1e33cdc7ce0c72a60baf236e590a257fcecbbbce7bc1a35451387',
  linux_arm64_108: 'a6820f6e868b615a0c616d9d77270b34893d05f2a7053046403a568697b8befc',
  linux_arm64_115: 'c0e29fc143b46b584f3debec7910014ec228198fc1f17aaeacd1de7991bd3769',
  linux_arm64_120: 'a855e3b7cc0db70ec503e296d50e91d2435db679bc3bd5433d7dae30e93c9b3c',
  linux_arm64_127: 'd4c4f8b2c28c5f6544b49e36d91b0beee238a5b90a07904a947f77061c8b814d',
  linux_arm_108: 'a42c7e5ed3e65aa6a2c243613ef8b1cac7057ee6291a129f921dea4f6661e34e',
  linux_arm_115: 'b02d5bc5ab08f040b6b9b818c3eb92806611f77a4dc2439a8f14cac827d498be',
  linux_arm_120: '814b5e63337d5072a85276d5279824b4f9817f8008fcff1f4a4345e2f2c30444',
  linux_arm_127: '0e1d4024b629a1fe17ec76cde8fe7e320101eb8bdcf7b2c4086933932e3cea23',
  linux_x64_108: 'b67b3254b1acea464bd6f7b58403c260567c31924abeb6a508a9acdc17a40ce9',
  linux_x64_115: '6f8d96d761a64beddb060f1f7f0e617dd293ed127ec1d57507aa561a0083171e',
  linux_x64_120: 'fcb1172837abd2a2dd130f6c6502f18e9b562a5d88bcc3bcdca5e6e710278080',
  linux_x64_127: '8cabc918bbf9a07323e54f89a33882491080b2eb35df0607f473ccdb1f3c31af',
  win32_x64_108: '19848592d2b11e1905f43132e28fecb14de4472f29a7a9306e64fd6c09e026f7',
  win32_x64_115: '58c8b8e47ae3dc6c382dbfc24656755106cbecce56add05ca2c32d5c39951ddd',
  win32_x64_120: '90a09f33c5c876094340a283fa1197b518251a5b8a1f59d9e963736ef0532eb6',
  win32_x64_127: '585d6ee2dbfc750b1d5a59e6ceaef8a977e90ef3e298a82821d58b41cd72a8c0',
}
