/** SHA-256 of uWebSockets.js's binaries. test/supply/uws-binaries.test.ts checks and prints the table. @module */

/** Keys as in the files' names, `uws_linux_x64_115.node`. */
export const uwsChecksums: Readonly<Record<string, string>> = {
  darwin_arm64_115: '5d523bccbe80d3d8fa59422ff81801b8179212b9a8a5da28bff6926a95a65701',
  darwin_arm64_127: 'abbeea53d48e21c01808203e9f9835728f2cea720d2e5b154837ee3045b513be',
  darwin_x64_115: '1f2a5c73d9dc3066d39b675b73f2c50eddbc4f270d292a6126ddfe3757c54cf9',
  darwin_x64_127: 'afd992dc1ca1e33cdc7ce0c72a60baf236e590a257fcecbbbce7bc1a35451387',
  linux_arm64_115: 'c0e29fc143b46b584f3debec7910014ec228198fc1f17aaeacd1de7991bd3769',
  linux_arm64_127: 'd4c4f8b2c28c5f6544b49e36d91b0beee238a5b90a07904a947f77061c8b814d',
  linux_arm_115: 'b02d5bc5ab08f040b6b9b818c3eb92806611f77a4dc2439a8f14cac827d498be',
  linux_arm_127: '0e1d4024b629a1fe17ec76cde8fe7e320101eb8bdcf7b2c4086933932e3cea23',
  linux_x64_115: '6f8d96d761a64beddb060f1f7f0e617dd293ed127ec1d57507aa561a0083171e',
  linux_x64_127: '8cabc918bbf9a07323e54f89a33882491080b2eb35df0607f473ccdb1f3c31af',
}
