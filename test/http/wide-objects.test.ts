/** Objects of many keys: each door that walks them has a bound, which a small body must not reach. */
import { io, Runner, Service } from 'serving'
import { openai } from 'serving/openai'
import { describe, expect, it } from 'vitest'

const members = Array.from({ length: 50_001 }, (_, i) => `"k${i}":0`).join()
const wide = `{${members}}`

function service(): Service {
  const runner = new Runner('said', {
    module: new URL('../openai/model.ts', import.meta.url),
    methods: { chat: { stream: true }, embed: {} },
    threads: 0,
  })
  const svc = new Service('wide', { protocols: [openai({ models: { said: runner } })] })
  const json = { input: new io.JSON(), output: new io.JSON() }
  svc.api({ ...json, name: 'echo' }, (value) => value)
  svc.api({ input: new io.Text(), output: new io.Text(), name: 'text' }, (text) => text)
  svc.live('talk', json, async function* (values) {
    yield* values
  })
  return svc
}

const call = '/serving.v1.ServingService/Call'
const bodies: readonly (readonly [path: string, body: string])[] = [
  ['/echo', wide],
  [
    '/v1/chat/completions',
    `{"model":"said","messages":[{"role":"user","content":"a"}],${members}}`,
  ],
  [
    '/v1/chat/completions',
    `{"model":"said","messages":[{"role":"user","content":"a",${members}}]}`,
  ],
  ['/v1/embeddings', `{"model":"said","input":"a",${members}}`],
  ['/v2/models/text/infer', `{"inputs":[],"parameters":${wide}}`],
  [
    '/v2/models/text/infer',
    `{"inputs":[{"name":"text_input","datatype":"BYTES","shape":[1],"data":["a"],"parameters":${wide}}]}`,
  ],
  ['/v2/models/text/generate', `{"text_input":"a",${members}}`],
  ['/v2/repository/index', wide],
  [call, `{"apiName":"echo","json":${wide}}`],
  [call, `{"apiName":"text","text":"a",${members}}`],
]

describe('an object of 50,001 keys', () => {
  const svc = service()

  it.each(bodies)('is refused by %s', async (path, body) => {
    const headers = { 'content-type': 'application/json' }
    const { status } = await svc.inject({ path, method: 'POST', headers, body: Buffer.from(body) })
    // Connect has no status for it of its own.
    expect(status).toBe(path === call ? 429 : 413)
  })

  it('ends the live stream that it comes by', async () => {
    const answers = await svc.inject.live({ path: '/talk', inputs: [JSON.parse(wide)] })
    const read = async () => {
      for await (const _ of answers);
    }
    await expect(read()).rejects.toMatchObject({ code: 'payload_too_large' })
  })
})
