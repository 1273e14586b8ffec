/**
 * What BentoML's own clients send and read, replayed: their requests and the answers that they understood were recorded
 * by `test/rpc/python/bentoml_clients.py`.
 */
import { readFileSync } from 'node:fs'
import { io, Service } from 'serving'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { bentomlMetadata, bentomlName, bentomlSpec } from '../../src/api/bentoml-metadata.ts'
import type { IODescriptor } from '../../src/descriptors/descriptor.ts'
import every from '../openapi/every.service.ts'
import { GrpcClient, start } from './harness.ts'

interface Message {
  readonly contentType: string
  readonly body: string
}

interface HttpFixture {
  readonly document: {
    readonly title: string
    readonly operations: Record<
      string,
      { name: string; description: string; input: unknown; output: unknown }
    >
  }
  readonly calls: readonly { path: string; request: Message; response: Message }[]
}

interface GrpcFixture {
  readonly calls: readonly { method: string; request: string; response: string }[]
}

const fixture = (name: string) =>
  JSON.parse(readFileSync(new URL(`../fixtures/bentoml/${name}`, import.meta.url), 'utf8'))
const { document, calls }: HttpFixture = fixture('http.json')
const rpc: GrpcFixture = fixture('grpc.json')

interface Operation {
  readonly tags: string[]
  readonly description: string
  readonly 'x-bentoml-name'?: string
  readonly requestBody: Record<string, unknown>
  readonly responses: Record<string, Record<string, unknown>>
}

const spec = 'x-bentoml-io-descriptor'

/** Bytes without what is new in each answer, or made by an encoder of another project. */
function comparable({ contentType, body }: Message): unknown {
  const bytes = Buffer.from(body, 'base64')
  const boundary = /boundary=(\S+)/.exec(contentType)?.[1]
  if (boundary !== undefined) return bytes.toString('latin1').replaceAll(boundary, 'boundary')
  if (contentType.startsWith('image/') || bytes.toString('latin1', 0, 4) === 'PAR1')
    return bytes.subarray(0, 4)
  // On uWebSockets.js an empty line of its own follows each event.
  return bytes.toString().replace(/\n{3}/g, '\n\n')
}

describe("BentoML's HTTP clients", () => {
  it('find in /docs.json what they read of it', async () => {
    const found = (await every.inject({ path: '/docs.json' })).json<{
      info: { title: string }
      paths: Record<string, { post?: Operation }>
    }>()
    const read = Object.entries(found.paths).flatMap(([path, { post }]) => {
      if (!post?.tags.includes('Service APIs')) return []
      const { description, requestBody, responses } = post
      const input = requestBody[spec]
      return [
        [path, { name: post['x-bentoml-name'], description, input, output: responses[200][spec] }],
      ]
    })
    expect({ title: found.info.title, operations: Object.fromEntries(read) }).toEqual(document)
  })

  it.each(calls.map((call) => [call.path, call] as const))(
    'are answered as recorded: %s',
    async (path, call) => {
      const { request, response } = call
      const body = Buffer.from(request.body, 'base64')
      const answer = await every.inject({
        path,
        body,
        headers: { 'content-type': request.contentType },
      })
      const contentType = answer.headers.get('content-type') as string
      const withoutBoundary = (type: string) => type.replace(/boundary=.*/, 'boundary')
      expect([answer.status, withoutBoundary(contentType)]).toEqual([
        200,
        withoutBoundary(response.contentType),
      ])
      const received = { contentType, body: Buffer.from(answer.body).toString('base64') }
      expect(comparable(received)).toEqual(comparable(response))
    },
  )
})

describe("BentoML's empty body for None", () => {
  const read = (schema: io.Schema | undefined, headers: Record<string, string>) => {
    const svc = new Service('none')
    svc.api(
      { input: new io.JSON({ schema: schema ?? null }), output: new io.JSON(), name: 'f' },
      (value) => [value],
    )
    return svc.inject({ path: '/f', body: '', headers })
  }
  const json = { 'content-type': 'application/json' }

  it('is null where it is said to be JSON, and the schema allows it', async () => {
    expect((await read(undefined, json)).text()).toBe('[null]')
    expect((await read(z.string().nullable(), json)).text()).toBe('[null]')
    expect((await read(z.string(), json)).json()).toMatchObject({ status: 400, reason: 'schema' })
    expect((await read(undefined, {})).json()).toMatchObject({
      status: 400,
      reason: 'syntax',
      offset: 0,
    })
  })
})

describe("BentoML's gRPC client", () => {
  let listener: Awaited<ReturnType<typeof start>>
  let client: GrpcClient
  beforeAll(async () => {
    listener = await start(every)
    client = new GrpcClient(listener.grpcPort as number, 'bentoml.grpc.v1.BentoService')
  })
  afterAll(async () => {
    client.close()
    await listener.close()
  })

  const messages = rpc.calls.filter(({ method }) => method.endsWith('/Call'))
  it.each(messages.map((call, i) => [i, call] as const))(
    'is answered as recorded: message %i',
    async (_, call) => {
      const { bytes, error } = await client.raw(Buffer.from(call.request, 'base64'))
      expect(error).toBeUndefined()
      const expected = Buffer.from(call.response, 'base64')
      // Pictures come from an encoder of another project.
      const isPicture = expected.includes('image/png')
      if (isPicture) expect(bytes?.includes('\x89PNG\r\n', undefined, 'latin1')).toBe(true)
      else expect(bytes).toEqual(expected)
    },
  )

  it('is told of the descriptors as in /docs.json', () => {
    const { name, apis } = bentomlMetadata(every)
    const told = Object.fromEntries(
      apis.map(({ name, docs, input, output }) => {
        const specOf = ({ descriptorId, attributes }: typeof input) => ({
          id: descriptorId,
          ...attributes,
        })
        return [
          `/${name}`,
          { name, description: docs, input: specOf(input), output: specOf(output) },
        ]
      }),
    )
    expect({ title: name, operations: told }).toEqual(document)
  })
})

describe('metadata for BentoML', () => {
  const of = (descriptor: unknown) => bentomlSpec(descriptor as IODescriptor)

  it('has the types of columns in the names of pandas, and none for a series that numpy does not have', () => {
    const dtype = {
      a: 'Utf8',
      b: 'date',
      c: 'Categorical',
      d: 'datetime64[ms]',
      e: 'Int32',
      f: 'f4',
    }
    expect(of(new io.PandasDataFrame({ dtype, enforceDtype: true }))?.args).toMatchObject({
      dtype: {
        a: 'str',
        b: 'datetime64[ns]',
        c: 'category',
        d: 'datetime64[ms]',
        e: 'int32',
        f: 'float32',
      },
      enforce_dtype: true,
    })
    expect(of(new io.PandasSeries({ dtype: 'category', enforceDtype: true }))?.args).toMatchObject({
      dtype: null,
      enforce_dtype: false,
    })
    expect(of(new io.PandasSeries({ dtype: true }))?.args).toMatchObject({ dtype: null })
  })

  it('does not tell the number of rows, which the clients would check', () => {
    const shape = [10, 2]
    expect(of(new io.PandasDataFrame({ shape, enforceShape: true }))?.args).toMatchObject({
      shape: [-1, 2],
    })
  })

  it('leaves out a form with a part of a custom descriptor', () => {
    class Custom extends io.IODescriptor<string> {
      readonly mimeType = 'text/x-custom'
      fromHttpRequest = () => ''
      toHttpResponse = () => ({ headers: [], body: '' })
    }
    const svc = new Service('custom')
    svc.api(
      { input: new io.Multipart({ a: new io.Text(), b: new Custom() }), output: new io.Text() },
      function f() {
        return ''
      },
    )
    expect(bentomlMetadata(svc).apis).toEqual([])
  })

  it.each([
    ['My_Service', 'my_service'],
    ['_x.', 'x'],
    ['A'.repeat(70), 'a'.repeat(63)],
    ['___', 'service'],
  ])('has names that its tags allow: %s', (name, tag) => {
    expect(bentomlName(name)).toBe(tag)
  })
})
