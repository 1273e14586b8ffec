/** Forms in and out of the parser, for tests of what reads and writes them. */
import { ServingError } from 'serving'
import { expect } from 'vitest'
import {
  defaultFormLimits,
  type FormLimits,
  FormParser,
  formBoundary,
} from '../../../../src/http/form/form-parser.ts'
import { HeaderList } from '../../../../src/http/message.ts'

export interface Seen {
  readonly name: string
  readonly filename: string | null
  readonly type: string | null
  body: string
}

/** Parts that a parser tells of a body given in pieces; bodies as base64. */
export function parse(
  pieces: readonly Uint8Array[],
  boundary: string,
  limits?: Partial<FormLimits>,
): Seen[] {
  const parts: Seen[] = []
  let open: { part: Seen; pieces: Uint8Array[] } | undefined
  const parser = new FormParser(
    boundary,
    {
      partStart(part) {
        expect(open).toBe(undefined)
        const seen = {
          name: part.name,
          filename: part.filename ?? null,
          type: part.get('content-type') ?? null,
          body: '',
        }
        open = { part: seen, pieces: [] }
      },
      partData: (bytes) => void open!.pieces.push(Uint8Array.from(bytes)),
      partEnd() {
        open!.part.body = Buffer.concat(open!.pieces).toString('base64')
        parts.push(open!.part)
        open = undefined
      },
    },
    { ...defaultFormLimits, ...limits },
  )
  for (const piece of pieces) {
    // As a socket does it: the bytes are gone once the call returns.
    const borrowed = Uint8Array.from(piece)
    parser.write(borrowed)
    borrowed.fill(0x2d)
  }
  parser.end()
  expect(open).toBe(undefined)
  return parts
}

export const base64 = (text: string) => Buffer.from(text).toString('base64')
export const field = (name: string, body: string) => ({
  name,
  filename: null,
  type: null,
  body: base64(body),
})
export const cut = (body: Uint8Array, ...places: number[]) => {
  const ends = [
    0,
    ...places.map((place) => Math.min(place, body.length)).sort((a, b) => a - b),
    body.length,
  ]
  return ends.slice(1).map((end, i) => body.subarray(ends[i], end))
}
export const boundaryOf = (contentType: string) =>
  formBoundary(HeaderList.from({ 'content-type': contentType }), 'the test')

/** Returns what `run` threw, when it blames the client or the developer. */
export function refused(run: () => unknown): ServingError {
  try {
    run()
  } catch (error) {
    if (ServingError.is(error)) return error
    throw error
  }
  throw new Error('it was accepted')
}
