import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { CaptureOptions } from '../../src/api/capture-options.ts'
import { valueOf } from '../../src/capture/captured-value.ts'
import { filesOf, foldersOf } from '../../src/capture/place.ts'
import { type CapturedCall, readCalls } from '../../src/capture/read-rows.ts'
import { requestOf } from '../../src/cli/recorded-calls.ts'
import { frameText } from '../../src/descriptors/frame-text.ts'
import { BinaryFile, io, NDArray, RasterImage, type Service } from '../../src/index.ts'
import { encodeNpy } from '../../src/values/array/npy.ts'
import { startCapture } from './harness.ts'

const picture = new Uint8Array(
  readFileSync(new URL('../fixtures/images/grey.png', import.meta.url)),
)
const orders = z.object({
  name: z.string(),
  code: z.string(),
  age: z.int(),
  score: z.number().nullable(),
  tags: z.array(z.string()).optional(),
})

/** Its fields have the names of columns of streams. */
const chat = z.object({ messages: z.array(z.string()), sha256: z.string() })

/** What functions have received, as text with its types. */
function shownOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof NDArray) return [value.dtype, value.shape, [...value.data].map(String)]
  if (value instanceof RasterImage) return Buffer.from(value.data).toString('hex')
  if (value instanceof BinaryFile)
    return [Buffer.from(value.bytes).toString(), value.mimeType, value.name]
  const frame = frameText(value)
  if (frame !== undefined)
    return [frame, String(Reflect.get(value, 'dtypes') ?? Reflect.get(value, 'dtype'))]
  if (Array.isArray(value)) return value.map(shownOf)
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, shownOf(each)]))
}

async function callsOf(place: string): Promise<CapturedCall[]> {
  const calls: CapturedCall[] = []
  const [{ store }] = await foldersOf(place)
  for (const file of await filesOf(store))
    for await (const call of readCalls(store, file)) calls.push(call)
  return calls
}

const form = new io.Multipart({
  part: new io.NumpyNdarray({ dtype: 'int32' }),
  note: io.optional(new io.Text()),
  files: io.many(new io.File()),
})
const descriptors = {
  array: new io.NumpyNdarray(),
  ids: new io.NumpyNdarray({ dtype: 'int64' }),
  floats: new io.NumpyNdarray({ dtype: 'float32' }),
  halves: new io.NumpyNdarray({ dtype: 'float16' }),
  frame: new io.PandasDataFrame(),
  split: new io.PandasDataFrame({ orient: 'split' }),
  csv: new io.PandasDataFrame({ defaultFormat: 'csv' }),
  series: new io.PandasSeries(),
  json: new io.JSON({ bigNumbers: 'bigint' }),
  order: new io.JSON({ schema: orders }),
  chat: new io.JSON({ schema: chat }),
  text: new io.Text(),
  file: new io.File(),
  picture: new io.Image(),
  form,
}

const sent = (type: string, body: string | Uint8Array | FormData) => ({ type, body })
const json = (body: string) => sent('application/json', body)
const npy = (array: NDArray) =>
  sent('application/x-npy', Uint8Array.from(encodeNpy(array, (size) => new Uint8Array(size))))

function filled(): FormData {
  const data = new FormData()
  data.append('part', new Blob(['[[1,2],[3,4]]'], { type: 'application/json' }))
  data.append('files', new Blob(['one'], { type: 'text/plain' }), 'a.txt')
  data.append('files', new Blob(['two'], { type: 'application/pdf' }), 'b.pdf')
  return data
}

const cases: readonly (readonly [keyof typeof descriptors, ReturnType<typeof sent>])[] = [
  ['array', json('[[1.0, 2.5], [null, 4.0]]')],
  ['array', json('[1, 9007199254740991]')],
  ['array', npy(new NDArray(BigInt64Array.of(2n ** 60n, -1n), [2]))],
  ['array', json('[true, false]')],
  ['array', json('["a", "ü"]')],
  ['array', npy(new NDArray(Float32Array.of(0.1, 2), [2]))],
  ['array', npy(new NDArray(Uint8Array.of(1, 255), [1, 2], 'uint8'))],
  ['array', npy(new NDArray(Float64Array.of(Number.POSITIVE_INFINITY, Number.NaN), [2]))],
  ['ids', json('[1, 9007199254740993]')],
  ['floats', json('[0.1, 1e-40, 16777217]')],
  ['halves', json('[0.1, -2]')],
  [
    'frame',
    json('[{"name": "ä", "age": 3, "score": 1.0}, {"name": null, "age": 4, "score": 0.5}]'),
  ],
  ['frame', json('[{"tags": ["x"], "at": {"a": 1}}, {"tags": [], "at": {"a": 2}}]')],
  ['split', json('{"columns": ["a"], "index": ["x", "y"], "data": [[1], [2]]}')],
  ['csv', sent('text/csv', 'a,b\n1,x\n2,"y,z"\n')],
  ['series', json('[1.0, 2.0]')],
  ['json', json('{"a": [1, {"b": null}]}')],
  ['json', json('{"big": 1152921504606846977}')],
  ['json', json('"text"')],
  ['order', json('{"name": "ann", "code": "[7]", "age": 7, "score": null}')],
  ['order', json('{"name": "bo", "code": "1", "age": 8, "score": 0.5, "tags": ["[", "b"]}')],
  ['chat', json('{"messages": ["hello"], "sha256": "f00"}')],
  ['text', sent('text/plain; charset=utf-8', 'äb\r\n')],
  ['file', sent('application/pdf', '%PDF')],
  ['picture', sent('image/png', picture)],
  ['form', { type: '', body: filled() }],
]

/** A service whose functions keep what they get. */
function keeping(seen: unknown[][]) {
  return (svc: Service) => {
    for (const [name, input] of Object.entries(descriptors))
      svc.api({ name, input: input as io.Text, output: new io.Text() }, (value) => {
        seen.push([name, shownOf(value)])
        return 'done'
      })
    const query = z.object({ top: z.coerce.number(), tag: z.array(z.string()) })
    svc.get('items/{id}', { output: new io.Text(), query }, function item(value, ctx) {
      seen.push(['item', ctx.params, value])
      return 'done'
    })
  }
}

async function record(capture: Partial<CaptureOptions> = {}) {
  const seen: unknown[][] = []
  const server = await startCapture(keeping(seen), capture)
  for (const [api, { type, body }] of cases) {
    const headers: Record<string, string> = type === '' ? {} : { 'content-type': type }
    const response = await fetch(`${server.base}/${api}`, {
      method: 'POST',
      body: body as string,
      headers,
    })
    expect([api, response.status, await response.text()]).toEqual([api, 200, 'done'])
  }
  await fetch(`${server.base}/items/a%2Fb?top=3&tag=x&tag=y%20z`)
  await server.listener.close()
  return { seen, path: server.path }
}

describe('a recorded input', () => {
  it('is a request again, of which the function gets the same value', async () => {
    const { seen, path } = await record()
    const again: unknown[][] = []
    const { base } = await startCapture(keeping(again))
    for (const api of [...new Set(cases.map(([name]) => name)), 'item']) {
      for (const call of await callsOf(join(path, api))) {
        const { method, path: below, headers, body } = await requestOf(call)
        const response = await fetch(base + below, {
          method,
          headers: headers ?? {},
          body: body as Uint8Array<ArrayBuffer>,
        })
        expect([api, await response.text()]).toEqual([api, 'done'])
      }
    }
    expect(again).toEqual(seen)
  })

  it('is a message of gRPC again', async () => {
    const { seen, path } = await record()
    const again: unknown[][] = []
    const svc = new (await import('../../src/index.ts')).Service('again')
    keeping(again)(svc)
    const { decodeRequest } = await import('../../src/messages/envelope.ts')
    const { fromContent } = await import('../../src/descriptors/proto-content.ts')
    for (const api of new Set(cases.map(([name]) => name))) {
      for (const call of await callsOf(join(path, api))) {
        // The numbers of google.protobuf.Value are doubles.
        if (String(call.row.input).includes('"big"')) continue
        const { body = new Uint8Array(0) } = await requestOf(call, true)
        const { apiName, content } = decodeRequest(body)
        expect(apiName).toBe(api)
        again.push([api, shownOf(await fromContent(descriptors[api], content))])
      }
    }
    expect(again).toEqual(
      seen.filter(([api, value]) => api !== 'item' && !Object.hasOwn(Object(value), 'big')),
    )
  })

  it('is none where it was too large, redacted or is a stream', async () => {
    const { path } = await record({ maxBytes: 4, redact: ['input'] })
    const reasons = new Set<unknown>()
    const reasonOf = (call: CapturedCall) => requestOf(call).catch(({ message }) => message)
    for (const [api] of cases)
      for (const call of await callsOf(join(path, api))) reasons.add(await reasonOf(call))
    expect([...reasons]).toEqual(['it has no input'])
    const [withoutPath] = await callsOf(join(path, 'item'))
    expect(await reasonOf(withoutPath)).toBe('its parameter id was not kept')
    const large = await record({ maxBytes: 4 })
    const [call] = await callsOf(join(large.path, 'file'))
    expect(await requestOf(call)).toMatchObject({ method: 'POST', path: '/file' })
    const [array] = await callsOf(join(large.path, 'array'))
    expect(await reasonOf(array)).toBe('its input was too large to be kept')
    expect(valueOf(array, 'output')).toBe('done')
    const [item] = await callsOf(join(large.path, 'item'))
    expect(await reasonOf(item)).toBe('its input was too large to be kept')
    const [order] = await callsOf(join(large.path, 'order'))
    expect(await reasonOf(order)).toBe('its input was too large to be kept')
  })
})
