/** Frames of WebSockets and the request for one, as bytes. @module */

/** A masked frame of a client. `opcode`: 1 text, 2 binary, 8 close, 9 ping. */
export function frame(opcode: number, payload: Uint8Array | string): Buffer {
  const bytes = Buffer.from(payload as string)
  const head = Buffer.alloc(bytes.length < 126 ? 6 : bytes.length < 65_536 ? 8 : 14)
  head[0] = 0x80 | opcode
  if (bytes.length < 126) head[1] = 0x80 | bytes.length
  else if (bytes.length < 65_536) {
    head[1] = 0x80 | 126
    head.writeUInt16BE(bytes.length, 2)
  } else {
    head[1] = 0x80 | 127
    head.writeBigUInt64BE(BigInt(bytes.length), 2)
  }
  // The mask is zero, which leaves the bytes as they are.
  return Buffer.concat([head, bytes])
}

/** The request to open a live stream, with headers in place of its own or beside them. */
export function upgradeText(path: string, headers: Record<string, string> = {}): string {
  const lines = {
    host: 'test',
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    ...headers,
  }
  const text = Object.entries(lines).map(([name, value]) => `${name}: ${value}\r\n`)
  return `GET ${path} HTTP/1.1\r\n${text.join('')}\r\n`
}
