/** Handlers of what browsers and Workers have: it runs there, in node:vm, and in Node, whose answers are the model. */
import { fetchHandler, io, NDArray } from 'serving/io'
import { z } from 'zod'

const anyArray = new io.NumpyNdarray()
const rows = new io.NumpyNdarray({ dtype: 'float32', shape: [-1, 2], enforceShape: true })
const json = new io.JSON()
const text = new io.Text()
const user = new io.JSON({ schema: z.object({ name: z.string(), age: z.number().int() }) })

const handlers: Readonly<Record<string, (request: Request) => Promise<Response>>> = {
  '/echo': fetchHandler({ input: anyArray, output: anyArray }, (x) => x),
  '/double': fetchHandler({ input: rows, output: rows }, (x) => {
    return new NDArray(
      x.data.map((value) => value * 2),
      x.shape,
    )
  }),
  '/json': fetchHandler({ input: json, output: json }, (value) => value),
  '/user': fetchHandler({ input: user, output: user }, ({ name, age }) => ({ name, age: age + 1 })),
  '/values': fetchHandler({ input: text, output: json }, () => ({
    array: new NDArray(Float32Array.of(1, 2.5), [2]),
    map: new Map([['a', 2n ** 60n]]),
    date: new Date(0),
    bytes: Uint8Array.of(1, 2),
  })),
  '/lines': fetchHandler({ input: text, output: json }, function* () {
    yield { a: 1 }
    yield { a: 'ü' }
  }),
  '/text': fetchHandler({ input: text, output: text, maxBodyBytes: 100_000 }, (value) => value),
  '/words': fetchHandler({ input: text, output: text }, async function* (value) {
    yield* value.split(' ')
  }),
  '/fail': fetchHandler({ input: text, output: text }, () => {
    throw new TypeError('secret')
  }),
}

/** An answer, its bytes as characters. */
export interface Told {
  readonly status: number
  readonly type: string | null
  readonly body: string
}

/** Asks a handler. The characters of a body are its bytes. */
export async function ask(
  path: string,
  lines: Readonly<Record<string, string>>,
  body: string,
): Promise<Told> {
  const headers = { 'x-request-id': 'a', ...lines }
  const bytes = Uint8Array.from(body, (character) => character.charCodeAt(0))
  const request = new Request(`http://a.example${path}`, { method: 'POST', headers, body: bytes })
  const answer = await handlers[path](request)
  const answered = [...new Uint8Array(await answer.arrayBuffer())]
    .map((byte) => String.fromCharCode(byte))
    .join('')
  return { status: answer.status, type: answer.headers.get('content-type'), body: answered }
}
