/**
 * The same calls for each runtime: prints `ok NAME` or `failed NAME: REASON` for each. Needs `npm run build`. Plain
 * JavaScript, which all of them load alike.
 *
 *   node test/runtimes/cases.mjs
 *   bun test/runtimes/cases.mjs
 *   deno run --allow-all --node-modules-dir=manual test/runtimes/cases.mjs
 * @module
 */
import { deepStrictEqual, match, ok, rejects } from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import process from 'node:process'
import { BadInput, InvalidArgument, io, NDArray, Runner, Service, serve } from 'serving'
import { createClient } from 'serving/client'
import { fetchHandler, Room } from 'serving/io'
import { onnxRunner } from 'serving/onnx'

const here = (path) => new URL(path, import.meta.url)
const json = { 'content-type': 'application/json' }
const sum = (data) => data.reduce((total, value) => total + value, 0)

// What is called: one service, in memory and behind a port.

const rows = new io.NumpyNdarray({ dtype: 'float32', shape: [-1, 2], enforceShape: true })
const places = ['thread', 'process']
const byPlace = (make) =>
  Object.fromEntries(places.map((isolation) => [isolation, make(isolation)]))
const methods = {
  double: {},
  scale: { batchable: true, maxBatchSize: 8 },
  shout: {},
  pid: {},
  fail: {},
  count: { stream: true },
}
const models = byPlace(
  (isolation) =>
    new Runner(`model_${isolation}`, { module: here('./model.mjs'), isolation, methods }),
)
const network = here('../../examples/digits/model.onnx')
const digits = byPlace((isolation) => onnxRunner(`digits_${isolation}`, network, { isolation }))
const runners = [...Object.values(models), ...Object.values(digits)]
const svc = new Service('runtimes', { runners })
const anything = new io.JSON()
svc.api(
  { name: 'double', input: rows, output: rows },
  (x) =>
    new NDArray(
      x.data.map((value) => 2 * value),
      x.shape,
    ),
)
svc.api({ name: 'echo', input: anything, output: anything }, (value) => value)
svc.api({ name: 'text', input: new io.Text(), output: new io.Text() }, (text) => text)
svc.api(
  { name: 'frame', input: new io.PandasDataFrame(), output: new io.PandasDataFrame() },
  (frame) => frame,
)
svc.api({ name: 'int64', input: new io.NumpyNdarray({ dtype: 'int64' }), output: anything }, (x) =>
  sum([...x.data].map(Number)),
)
svc.api(
  { name: 'form', input: new io.Multipart({ x: rows, name: new io.Text() }), output: anything },
  ({ x, name }) => ({
    sum: sum(x.data),
    name,
  }),
)
svc.api({ name: 'file', input: new io.File(), output: anything }, (file) => file.bytes.length)
svc.api({ name: 'picture', input: new io.Image(), output: anything }, (image) => [
  image.width,
  image.height,
  image.mode,
])
svc.api({ name: 'count', input: anything, output: new io.Text() }, async function* (n) {
  for (let i = 0; i < n; i++) yield `${i} `
})
svc.api(
  { name: 'events', input: anything, output: new io.Text({ contentType: 'text/event-stream' }) },
  async function* (n) {
    for (let i = 0; i < n; i++) yield `event ${i}`
  },
)
svc.api({ name: 'refuse', input: anything, output: anything }, () => {
  throw new BadInput('not this')
})
svc.api({ name: 'fail', input: anything, output: anything }, () => {
  throw new TypeError('secret')
})
svc.api({ name: 'ctx', input: anything, output: anything }, (_, ctx) => {
  ctx.response.status = 201
  ctx.response.setHeader('x-seen', ctx.headers.get('x-sent') ?? '')
  return ctx.query.get('q')
})
svc.api({ name: 'model', input: anything, output: anything }, (x, ctx) =>
  models.thread.double(x, ctx),
)
svc.get('/items/{id}', { output: anything }, (_, ctx) => ({ id: ctx.params.id }))

const asked = async (path, body, headers = json) => {
  const response = await svc.inject({ path, body, headers })
  return { status: response.status, text: response.text(), headers: response.headers }
}
const cases = []
const add = (group, name, run) => cases.push([`${group}: ${name}`, run])

const polars = { schema: ['a', 'b'], records: '[{"a":1,"b":"x"},{"a":2,"b":"y"}]' }
const picture = new Uint8Array(
  readFileSync(here('../../examples/digits/held-out/7-blue-on-cream-200x150-rgb-29.png')),
)
const form = () => {
  const made = new FormData()
  made.set('x', new Blob(['[[1, 2]]'], { type: 'application/json' }))
  made.set('name', 'n')
  return made
}
const plain = { 'content-type': 'text/plain' }
const answers = (run, status, text) => async () => {
  const answer = await run()
  deepStrictEqual([answer.status, answer.text], [status, text])
}
const hasCode = (run, status, code) => async () => {
  const answer = await run()
  deepStrictEqual([answer.status, JSON.parse(answer.text).code], [status, code])
}

/** Adds what answers the same in memory and over a socket. */
function addCalls(group, ask) {
  const call = (name, ...given) =>
    add(
      group,
      name,
      answers(() => ask(...given.slice(0, 3)), ...given.slice(3)),
    )
  call('an array', '/double', '[[1, 2], [3, 4.5]]', json, 200, '[[2.0,4.0],[6.0,9.0]]')
  call('an object', '/echo', '{"a":[1,null,"ü"]}', json, 200, '{"a":[1,null,"ü"]}')
  call('text', '/text', 'grüße', plain, 200, 'grüße')
  call('a frame', '/frame', polars.records, json, 200, polars.records)
  call('int64 beyond 2^53', '/int64', '[9007199254740993, 1]', json, 200, '9007199254740992')
  call(
    'a file',
    '/file',
    new Uint8Array(5),
    { 'content-type': 'application/octet-stream' },
    200,
    '5',
  )
  call('a picture', '/picture', picture, { 'content-type': 'image/png' }, 200, '[200,150,"RGB"]')
  call('a form', '/form', form(), {}, 200, '{"sum":3,"name":"n"}')
  call('pieces of text', '/count', '3', json, 200, '0 1 2 ')
  call('a Runner', '/model', '21', json, 200, '42')
  const refuse = (name, ...given) =>
    add(
      group,
      name,
      hasCode(() => ask(...given.slice(0, 3)), ...given.slice(3)),
    )
  refuse('a wrong shape', '/double', '[[1]]', json, 400, 'bad_input')
  refuse('broken JSON', '/echo', '{"a":', json, 400, 'bad_input')
  refuse(
    'a media type',
    '/double',
    'x',
    { 'content-type': 'image/png' },
    415,
    'unsupported_media_type',
  )
  refuse('an unknown path', '/nothing', '1', json, 404, 'not_found')
  refuse('an error of the function', '/refuse', '1', json, 400, 'bad_input')
  add(group, 'a failure says nothing', async () => {
    const { status, text } = await ask('/fail', '1', json)
    deepStrictEqual(
      [status, JSON.parse(text).code, text.includes('secret')],
      [500, 'function_error', false],
    )
  })
  add(group, 'events', async () => {
    const { status, text } = await ask('/events', '2', json)
    deepStrictEqual([status, text.match(/event \d/g)], [200, ['event 0', 'event 1']])
  })
  add(group, 'status, headers and query', async () => {
    const { status, text, headers } = await ask('/ctx?q=7', 'null', { ...json, 'x-sent': 'here' })
    deepStrictEqual([status, text, headers.get('x-seen')], [201, '"7"', 'here'])
  })
  add(group, 'a gzipped body', async () => {
    const stream = new Blob(['[1]']).stream().pipeThrough(new CompressionStream('gzip'))
    const body = new Uint8Array(await new Response(stream).arrayBuffer())
    const { status, text } = await ask('/echo', body, { ...json, 'content-encoding': 'gzip' })
    deepStrictEqual([status, text], [200, '[1]'])
  })
}

addCalls('inject', asked)
add('inject', 'a parameter of the path', async () => {
  const response = await svc.inject({ path: '/items/a%20b' })
  deepStrictEqual(response.json(), { id: 'a b' })
})
add('inject', 'the OpenAPI document', async () => {
  const response = await svc.inject({ path: '/openapi.json' })
  ok('/double' in response.json().paths)
})

const listener = await (async () => {
  const { pino } = await import('pino')
  return await serve(svc, {
    port: 0,
    host: '127.0.0.1',
    engine: 'node',
    logger: pino({ level: 'silent' }),
  })
})()
const url = `http://127.0.0.1:${listener.port}`
const fetched = async (path, body, headers) => {
  const response = await fetch(url + path, { method: 'POST', body, headers })
  return { status: response.status, text: await response.text(), headers: response.headers }
}
addCalls('serve', fetched)
add('serve', 'health', async () => {
  deepStrictEqual((await fetch(`${url}/readyz`)).status, 200)
})
add('serve', 'metrics', async () => {
  match(await (await fetch(`${url}/metrics`)).text(), /^serving_\w+/m)
})
add('serve', 'the page', async () => {
  match(await (await fetch(`${url}/`)).text(), /<!doctype html>/)
})
add('serve', 'twenty requests at a time', async () => {
  const all = await Promise.all(
    Array.from({ length: 20 }, (_, i) => fetched('/echo', `${i}`, json)),
  )
  deepStrictEqual(
    all.map(({ text }) => Number(text)),
    Array.from({ length: 20 }, (_, i) => i),
  )
})
add('serve', 'a body of 5 MB', async () => {
  const { status, text } = await fetched('/file', new Uint8Array(5e6), {
    'content-type': 'application/octet-stream',
  })
  deepStrictEqual([status, text], [200, '5000000'])
})

for (const place of places) {
  const model = models[place]
  add(place, 'a call', async () => deepStrictEqual(await model.double(4), 8))
  add(place, 'text', async () => deepStrictEqual(await model.shout('grün'), 'GRÜN'))
  add(place, 'calls joined to batches', async () => {
    const row = (i) => new NDArray(new Float32Array([i, i]), [1, 2])
    const all = await Promise.all([1, 2, 3].map((i) => model.scale(row(i))))
    deepStrictEqual(
      all.map(({ data }) => [...data]),
      [
        [2, 2],
        [4, 4],
        [6, 6],
      ],
    )
  })
  add(place, 'a stream', async () => {
    const values = []
    for await (const value of model.count(3)) values.push(value)
    deepStrictEqual(values, [0, 1, 2])
  })
  add(place, 'an error', () => rejects(() => model.fail(1), /no model for it/))
  add(place, 'a process of its own, or not', async () => {
    deepStrictEqual((await model.pid(0)) === process.pid, place === 'thread')
  })
  add(place, 'ONNX: names and shapes', async () => {
    const { inputs, outputs } = await digits[place].describe()
    ok(inputs.length > 0 && outputs.some(({ name }) => name === 'probabilities'))
  })
  add(place, 'ONNX: a prediction', async () => {
    const input = new NDArray(new Float32Array(64), [1, 64])
    const { probabilities } = await digits[place].run({ cells: input })
    deepStrictEqual(probabilities.shape, [1, 10])
    ok(Math.abs(sum(probabilities.data) - 1) < 1e-5)
  })
}

const client = createClient(url)
add('client', 'an array', async () => {
  const { dtype, shape, data } = await client.double([[1, 2]])
  deepStrictEqual([dtype, shape, [...data]], ['float32', [1, 2], [2, 4]])
})
add('client', 'JSON', async () => deepStrictEqual(await client.echo({ a: 1 }), { a: 1 }))
add('client', 'text', async () => deepStrictEqual(await client.text('a'), 'a'))
add('client', 'pieces', async () => {
  let text = ''
  for await (const piece of client.count(3)) text += piece
  deepStrictEqual(text, '0 1 2 ')
})
add('client', 'a file', async () => deepStrictEqual(await client.file(new Blob(['abc'])), 3))
add('client', 'a refusal', () =>
  rejects(async () => await client.refuse(1), { code: 'bad_input', status: 400 }),
)
add('client', 'a deadline', async () => {
  await rejects(async () => await client.echo(1, { signal: AbortSignal.abort() }))
})

const room = new Room({ maxInFlight: 1 })
const handlers = {
  double: fetchHandler(
    { input: rows, output: rows },
    (x) =>
      new NDArray(
        x.data.map((value) => 2 * value),
        x.shape,
      ),
  ),
  small: fetchHandler(
    { input: new io.Text(), output: new io.Text(), maxBodyBytes: 3 },
    (text) => text,
  ),
  count: fetchHandler({ input: anything, output: new io.Text() }, async function* (n) {
    for (let i = 0; i < n; i++) yield `${i} `
  }),
  alone: fetchHandler({ input: anything, output: anything, room }, async () => {
    await new Promise((resolve) => setTimeout(resolve, 50))
    return 1
  }),
}
const handled = async (name, body, headers = json) => {
  const response = await handlers[name](
    new Request('http://localhost/', { method: 'POST', body, headers }),
  )
  return { status: response.status, text: await response.text() }
}
add(
  'io',
  'an array',
  answers(() => handled('double', '[[1, 2]]'), 200, '[[2.0,4.0]]'),
)
add(
  'io',
  'pieces',
  answers(() => handled('count', '2'), 200, '0 1 '),
)
add(
  'io',
  'a wrong shape',
  hasCode(() => handled('double', '[[1]]'), 400, 'bad_input'),
)
add(
  'io',
  'a body that is too long',
  hasCode(() => handled('small', 'long', plain), 413, 'payload_too_large'),
)
add('io', 'more than there is room for', async () => {
  const all = await Promise.all([handled('alone', '1'), handled('alone', '1')])
  deepStrictEqual(all.map(({ status }) => status).sort(), [200, 503])
})
add('io', 'a wrong option', () =>
  rejects(async () => new io.NumpyNdarray({ dtype: 'float31' }), InvalidArgument),
)

for (const [name, run] of cases) {
  try {
    await run()
    console.log(`ok ${name}`)
  } catch (error) {
    console.log(
      `failed ${name}: ${String(error?.stack ?? error)
        .replaceAll('\n', ' ')
        .slice(0, 600)}`,
    )
  }
}
await listener.close()
console.log('end')
// Deno does not end by itself here, as Node and Bun do.
process.exit()
