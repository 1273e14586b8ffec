import { randomHex } from '../../core/platform.ts'
import { escapeFormName } from '../content-disposition.ts'
import { exactly } from '../encoded-pieces.ts'
import type { Chunk } from '../message.ts'

/** One part on its way out. */
export interface WrittenPart {
  readonly name: string
  readonly filename?: string
  /** A valid header value. */
  readonly type: string
  readonly length: number
  /** All bytes, or a source of exactly `length` bytes. */
  readonly body: Uint8Array | AsyncIterable<Chunk>
}

/** A form with its Content-Type. */
export interface WrittenForm {
  readonly contentType: string
  /** Bytes, unless a part has a source. */
  readonly body: Uint8Array | AsyncIterable<Chunk>
}

/**
 * Encodes parts as a form.
 *
 * @throws the stream fails if a source gives other than its `length` bytes.
 */
export function writeForm(parts: readonly WrittenPart[]): WrittenForm {
  // 128 random bits: no content holds them by chance.
  const boundary = randomHex(16)
  const contentType = `multipart/form-data; boundary=${boundary}`
  const pieces: (Uint8Array | WrittenPart)[] = []
  for (const part of parts) {
    const filename =
      part.filename === undefined ? '' : `; filename="${escapeFormName(part.filename)}"`
    pieces.push(
      Buffer.from(
        `--${boundary}\r\ncontent-disposition: form-data; name="${escapeFormName(part.name)}"${filename}\r\n` +
          `content-type: ${part.type}\r\ncontent-length: ${part.length}\r\n\r\n`,
      ),
      part.body instanceof Uint8Array ? part.body : part,
      lineEnd,
    )
  }
  pieces.push(Buffer.from(`--${boundary}--\r\n`))
  const whole = pieces.filter((piece) => piece instanceof Uint8Array)
  return {
    contentType,
    body: whole.length === pieces.length ? Buffer.concat(whole) : stream(pieces),
  }
}

const lineEnd = Buffer.from('\r\n')

async function* stream(pieces: readonly (Uint8Array | WrittenPart)[]): AsyncGenerator<Chunk> {
  for (const piece of pieces) {
    if (piece instanceof Uint8Array) yield piece
    else yield* exactly(piece.body as AsyncIterable<Chunk>, piece.length)
  }
}
