/**
 * PNG files that claim much, or hide much.
 * @module
 */
import { crc32, deflateSync } from 'node:zlib'

function chunk(kind: string, data: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(kind, 'latin1'), data])
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  sum.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, sum])
}

function header(width: number, height: number): Buffer {
  const data = Buffer.alloc(13)
  data.writeUInt32BE(width, 0)
  data.writeUInt32BE(height, 4)
  data[8] = 8
  return Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), chunk('IHDR', data)])
}

/** Returns a grey picture that says it has this size, with the data of one pixel. */
export function pngOf(width: number, height: number): Buffer {
  const data = chunk('IDAT', deflateSync(Buffer.alloc(2)))
  return Buffer.concat([header(width, height), data, chunk('IEND', Buffer.alloc(0))])
}

/** Returns a grey picture of one pixel, with chunks that unpack to so many bytes: data, a profile or a text. */
export function pngWith(
  chunks: readonly (readonly ['IDAT' | 'iCCP' | 'zTXt', bytes: number])[],
): Buffer {
  const heads = { IDAT: '', iCCP: 'profile\0\0', zTXt: 'Comment\0\0' }
  const made = chunks.map(([kind, bytes]) =>
    chunk(
      kind,
      Buffer.concat([
        Buffer.from(heads[kind], 'latin1'),
        deflateSync(Buffer.alloc(bytes), { level: 9 }),
      ]),
    ),
  )
  const data = chunks.some(([kind]) => kind === 'IDAT')
    ? []
    : [chunk('IDAT', deflateSync(Buffer.alloc(2)))]
  return Buffer.concat([header(1, 1), ...made, ...data, chunk('IEND', Buffer.alloc(0))])
}
