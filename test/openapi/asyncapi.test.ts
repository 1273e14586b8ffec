import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import { io, type Protocol, Service } from 'serving'
import { apiKey, jwt } from 'serving/auth'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { start } from '../http/harness.ts'
import { follow } from '../protocol/follow.ts'

const schema = JSON.parse(
  readFileSync(new URL('../fixtures/openapi/asyncapi.json', import.meta.url), 'utf8'),
)
const validate = new Ajv({
  strict: false,
  validateFormats: false,
  meta: false,
  validateSchema: false,
}).compile(schema)

interface Node {
  readonly name: string
  readonly next?: Node | undefined
}
const Node: z.ZodType<Node> = z
  .object({
    name: z.string(),
    get next() {
      return Node.optional()
    },
  })
  .meta({ id: 'Node' })

const keys = [createHash('sha256').update('secret').digest('hex')]
const svc = new Service('every', {
  doc: 'All kinds.',
  auth: apiKey({ keys }),
})
const array = new io.NumpyNdarray({ dtype: 'float32', shape: [-1] })
async function* nothing() {}
svc.live(
  'dictate',
  { input: array, output: new io.JSON({ schema: z.object({ word: z.string() }) }), doc: 'Words.' },
  nothing,
)
svc.live('chat', { input: new io.Text(), output: new io.Text(), auth: false }, nothing)
svc.live(
  'tree',
  {
    input: new io.JSON({ schema: Node }),
    output: array,
    auth: jwt({ jwks: new URL('http://127.0.0.1:9/keys'), issuer: 'me', audience: 'you' }),
  },
  nothing,
)
svc.live(
  'look',
  { input: new io.Image(), output: new io.Image({ mimeType: 'image/png' }) },
  nothing,
)
svc.live('copy', { input: new io.File(), output: new io.File() }, nothing)
svc.live('rows', { input: new io.PandasDataFrame(), output: new io.PandasSeries() }, nothing)

const headers = { 'x-api-key': 'secret' }
const document = async () =>
  (await svc.inject({ path: '/asyncapi.json', headers })).json<Record<string, never>>()

/** Returns all references of a value that lead nowhere in the document. */
function broken(value: unknown, root: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  const own = (value as { readonly $ref?: unknown }).$ref
  const find = (path: string) =>
    path
      .split('/')
      .slice(1)
      .reduce((at: unknown, key) => (at as Record<string, unknown>)?.[key], root)
  const mine = typeof own === 'string' && find(own) === undefined ? [own] : []
  return [...mine, ...Object.values(value).flatMap((each) => broken(each, root))]
}

describe('the AsyncAPI document', () => {
  it('is valid by the schema of AsyncAPI 3.0.0, and its references lead somewhere', async () => {
    const own = await document()
    validate(own)
    expect(validate.errors).toBe(null)
    expect(broken(own, own)).toEqual([])
    expect(validate({ ...own, channels: { dictate: { address: 1 } } })).toBe(false)
  })

  it('has a channel for each live stream, with the messages of both sides', async () => {
    const { channels, operations } = (await document()) as Record<
      string,
      Record<string, Record<string, never>>
    >
    expect(Object.keys(channels)).toEqual([...svc.lives.keys()])
    const { address, description, messages } = channels.dictate
    expect({ address, description }).toEqual({ address: '/dictate', description: 'Words.' })
    const types = Object.entries(messages as Record<string, { contentType: string }>)
    expect(types.map(([key, { contentType }]) => [key, contentType])).toEqual([
      ['input', 'application/json'],
      ['input2', 'application/x-npy'],
      ['output', 'application/json'],
      ['clientControl', 'application/json'],
      ['serverControl', 'application/json'],
    ])
    expect(operations['dictate.receive']).toMatchObject({
      action: 'receive',
      messages: ['input', 'input2', 'clientControl'].map((key) => ({
        $ref: `#/channels/dictate/messages/${key}`,
      })),
    })
    expect(operations['dictate.send']).toMatchObject({ action: 'send' })
  })

  it('says who may open each', async () => {
    const { operations, components } = (await document()) as unknown as {
      readonly operations: Record<
        string,
        { readonly security?: readonly { readonly $ref: string }[] }
      >
      readonly components: { readonly securitySchemes: Record<string, { readonly type: string }> }
    }
    const typesOf = (name: string) =>
      operations[name].security?.map(
        ({ $ref }) => components.securitySchemes[$ref.split('/')[3]].type,
      )
    expect(typesOf('dictate.receive')).toEqual(['httpApiKey', 'http'])
    expect(typesOf('tree.send')).toEqual(['http'])
    expect(typesOf('chat.receive')).toBe(undefined)
  })

  it('has the live streams of protocols, below the base URL and beside it, by the names that are free', async () => {
    const beside: Protocol = {
      name: 'beside',
      attach: (host) =>
        host.live({
          name: 'follow',
          doc: 'Says nothing.',
          path: '/beside',
          access: { kind: 'open', because: 'it says nothing' },
          origins: 'any',
          input: new io.Text(),
          output: array,
          maxMessage: 1_000,
          maxBuffered: 1_000,
          idleTimeoutMs: 1_000,
          answer: nothing,
        }),
    }
    const { listener } = await start(
      'node',
      (svc) => {
        svc.live('follow', { input: array, output: array, auth: false }, nothing)
      },
      { baseUrl: '/v2' },
      { protocols: [follow, beside], auth: apiKey({ keys }) },
    )
    const documentAt = async (path: string) => {
      const answer = await fetch(`http://127.0.0.1:${listener.port}/v2${path}`, { headers })
      return (await answer.json()) as Record<string, Record<string, Record<string, never>>>
    }
    const own = await documentAt('/asyncapi.json')
    validate(own)
    expect(validate.errors).toBe(null)
    expect(broken(own, own)).toEqual([])
    const places = Object.entries(own.channels).map(([name, { address, servers, description }]) => {
      return [name, address, (servers as { $ref: string }[])[0].$ref, description]
    })
    expect(places).toEqual([
      ['follow', '/v1/follow', '#/servers/default', undefined],
      ['follow_', '/beside', '#/servers/root', 'Says nothing.'],
      ['follow__', '/follow', '#/servers/default', undefined],
    ])
    const security = ['follow', 'follow_', 'follow__'].map(
      (name) => own.operations[`${name}.receive`].security,
    )
    expect(security).toEqual([
      ['apiKey', 'bearer'].map((name) => ({ $ref: `#/components/securitySchemes/${name}` })),
      undefined,
      undefined,
    ])
    // The page and the clients know a live stream by the operation of the document.
    const { paths } = await documentAt('/openapi.json')
    expect(Object.keys(paths['/v1/follow'].get['x-serving'])).toContain('live')
    expect(paths['/v1/follow'].get).toMatchObject({ operationId: 'follow_' })
    expect(paths['/follow'].get).toMatchObject({ operationId: 'follow' })
    const { entries } = await documentAt('/docs/page.json')
    expect(Object.values(entries).map(({ path }) => path)).toEqual(['/beside'])
  })

  it('is there only where there are live streams', async () => {
    const plain = new Service('plain')
    expect((await plain.inject({ path: '/asyncapi.json' })).status).toBe(404)
  })
})
