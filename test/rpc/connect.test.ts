import { create, createFileRegistry, type DescService, fromBinary } from '@bufbuild/protobuf'
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt'
import { Code, ConnectError, createClient, type Transport } from '@connectrpc/connect'
import { createConnectTransport } from '@connectrpc/connect-node'
import { BadInput, io, type Listener, type Service } from 'serving'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fileDescriptors } from '../../src/messages/gen/descriptors.ts'
import { engines } from '../engines.ts'
import { echoService } from './echo-service.ts'
import { start } from './harness.ts'

const registry = createFileRegistry(
  create(FileDescriptorSetSchema, {
    file: fileDescriptors.map(({ base64 }) =>
      fromBinary(FileDescriptorProtoSchema, Buffer.from(base64, 'base64')),
    ),
  }),
)
const serviceOf = (name: string) => registry.getService(name) as DescService

type AnyClient = Record<
  'call' | 'serviceMetadata',
  (request: object, options?: object) => Promise<Record<string, unknown>>
>

function service(): Service {
  const svc = echoService()
  svc.api({ name: 'fail', input: new io.Text(), output: new io.Text() }, () => {
    throw new BadInput('expected tea', { reason: 'schema', path: 'cup' })
  })
  svc.api({ name: 'bug', input: new io.Text(), output: new io.Text() }, () => {
    throw new TypeError('secret')
  })
  svc.api(
    { name: 'hang', input: new io.Text(), output: new io.Text() },
    () => new Promise<string>(() => {}),
  )
  svc.api({ name: 'header', input: new io.Text(), output: new io.Text() }, (name: string, ctx) => {
    ctx.response.setHeader('x-kettle', 'boiling')
    ctx.response.setHeader('content-type', 'text/x-own')
    return `${ctx.headers.get(name)}`
  })
  return svc
}

for (const engine of engines) {
  for (const useBinaryFormat of [true, false]) {
    describe(`Connect on the ${engine} engine with ${useBinaryFormat ? 'protobuf' : 'JSON'}`, () => {
      let listener: Listener
      let transport: Transport
      let client: AnyClient
      beforeAll(async () => {
        listener = await start(service(), { engine, baseUrl: '/v1' })
        transport = createConnectTransport({
          baseUrl: `http://127.0.0.1:${listener.port}/v1`,
          httpVersion: '1.1',
          useBinaryFormat,
        })
        client = createClient(
          serviceOf('serving.v1.ServingService'),
          transport,
        ) as unknown as AnyClient
      })
      afterAll(() => listener.close())

      it('takes and answers arrays of many elements as protobuf alone', async () => {
        const many = Array.from({ length: 250_001 }, () => 0)
        const floats = (count: number) => many.slice(0, count)
        const array = (count: number) => ({ dtype: 1, shape: [count], floatValues: floats(count) })
        const frame = {
          columnNames: ['a', 'b'],
          columns: [{ floatValues: floats(125_001) }, { floatValues: floats(125_001) }],
        }
        for (const [apiName, field, value] of [
          ['ndarray', 'ndarray', array(250_001)],
          ['frame', 'dataframe', frame],
          ['series', 'series', { floatValues: many }],
        ] as const) {
          const call = client.call({ apiName, content: { case: field, value } })
          if (useBinaryFormat) expect(await call).toMatchObject({ content: { case: field } })
          else {
            const error = await call.catch((reason: unknown) => ConnectError.from(reason))
            expect(error).toMatchObject({ code: Code.ResourceExhausted })
            expect((error as ConnectError).rawMessage).toMatch(/at most 250000 (values|elements)/)
          }
        }
        const { content } = await client.call({
          apiName: 'ndarray',
          content: { case: 'ndarray', value: array(249_000) },
        })
        expect(content).toMatchObject({ value: { shape: [249_000] } })
      })

      it('echoes every kind of content', async () => {
        const contents = [
          ['ndarray', 'ndarray', { dtype: 1, shape: [2], floatValues: [0.5, Number.NaN] }],
          ['ndarray', 'ndarray', { dtype: 1, floatValues: [2.5], scalar: true }],
          ['ndarray', 'ndarray', { dtype: 5, shape: [1, 2], int64Values: [2n ** 62n, -1n] }],
          ['json', 'json', { kind: { case: 'stringValue', value: 'é' } }],
          ['text', 'text', { value: 'hello' }],
          ['file', 'file', { kind: 'audio/wav', content: Uint8Array.of(1, 2) }],
          ['frame', 'dataframe', { columnNames: ['a'], columns: [{ stringValues: ['x', 'y'] }] }],
          ['series', 'series', { boolValues: [true, false], nullPositions: [1] }],
        ] as const
        for (const [apiName, field, value] of contents) {
          const { content } = await client.call({ apiName, content: { case: field, value } })
          expect(content).toMatchObject({ case: field })
          expect((content as { value: unknown }).value).toMatchObject(value as object)
        }
        const fields = {
          a: { representation: { case: 'text', value: { value: 'hi' } } },
          j: {
            representation: { case: 'json', value: { kind: { case: 'boolValue', value: true } } },
          },
          n: { representation: { case: 'ndarray', value: { floatValues: [1] } } },
        }
        const { content } = await client.call({
          apiName: 'form',
          content: { case: 'multipart', value: { fields } },
        })
        expect(content).toMatchObject({ value: { fields: { a: fields.a, j: fields.j } } })
      })

      it('sends serialized bytes both ways', async () => {
        const value = new Uint8Array(Float32Array.of(1, 2).buffer)
        const { content } = await client.call({
          apiName: 'floats',
          content: { case: 'serializedBytes', value },
        })
        expect(content).toMatchObject({ case: 'ndarray', value: { floatValues: [1, 2] } })
        const zeros = await client.call({
          apiName: 'zeros',
          content: { case: 'json', value: { kind: { case: 'boolValue', value: true } } },
        })
        expect(zeros.content).toMatchObject({ case: 'serializedBytes' })
      })

      it('tells errors with code, message and details', async () => {
        const failure = async (apiName: string, options?: object) =>
          client.call({ apiName, content: { case: 'text', value: { value: '' } } }, options).then(
            () => expect.unreachable(),
            (error) => ConnectError.from(error),
          )
        const bad = await failure('fail')
        expect(bad).toMatchObject({ code: Code.InvalidArgument, rawMessage: 'expected tea' })
        expect(bad.details).toMatchObject([{ type: 'google.rpc.ErrorInfo' }])
        expect(await failure('bug')).toMatchObject({
          code: Code.Internal,
          rawMessage: 'the function failed',
        })
        expect(await failure('nobody')).toMatchObject({ code: Code.NotFound })
        expect(await failure('ndarray')).toMatchObject({ code: Code.InvalidArgument })
        expect(await failure('hang', { timeoutMs: 50 })).toMatchObject({
          code: Code.DeadlineExceeded,
        })
      })

      it('hands headers on, both ways', async () => {
        let got: Headers | undefined
        const onHeader = (headers: Headers) => {
          got = headers
        }
        const options = { headers: { 'x-tea': 'green', 'x-request-id': 'r1' }, onHeader }
        const { content } = await client.call(
          { apiName: 'header', content: { case: 'text', value: { value: 'x-tea' } } },
          options,
        )
        expect(content).toMatchObject({ case: 'text', value: { value: 'green' } })
        expect(got?.get('x-kettle')).toBe('boiling')
        expect(got?.get('x-request-id')).toBe('r1')
      })

      it('tells the APIs, and answers under the name of the reference system', async () => {
        const told = await client.serviceMetadata({})
        expect(told).toMatchObject({ name: 'echo', docs: 'Echoes.' })
        expect(told.apis).toContainEqual(expect.objectContaining({ name: 'pairs' }))
        const other = createClient(
          serviceOf('bentoml.grpc.v1.BentoService'),
          transport,
        ) as unknown as AnyClient
        const { content } = await other.call({
          apiName: 'text',
          content: { case: 'text', value: { value: 'x' } },
        })
        expect(content).toMatchObject({ case: 'text', value: { value: 'x' } })
      })
    })
  }

  describe(`a request that is no Connect call, on the ${engine} engine`, () => {
    let listener: Listener
    const post = (headers: Record<string, string>, body: string, method = 'Call') =>
      fetch(`http://127.0.0.1:${listener.port}/serving.v1.ServingService/${method}`, {
        method: 'POST',
        headers,
        body,
      })
    beforeAll(async () => {
      listener = await start(service(), { engine, maxBodyBytes: 10_000 })
    })
    afterAll(() => listener.close())

    it('is refused by its media type, encoding, version, timeout, method and size', async () => {
      const json = { 'content-type': 'application/json' }
      const body = '{"apiName":"text","text":"x"}'
      expect((await post(json, body)).status).toBe(200)
      expect((await post({ 'content-type': 'text/plain' }, body)).status).toBe(415)
      for (const [headers, status, code] of [
        [{ 'content-encoding': 'gzip' }, 501, 'unimplemented'],
        [{ 'connect-protocol-version': '2' }, 400, 'invalid_argument'],
        [{ 'connect-timeout-ms': 'soon' }, 400, 'invalid_argument'],
      ] as const) {
        const answer = await post({ ...json, ...headers }, body)
        expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([
          status,
          code,
        ])
      }
      const large = await post(json, `{"apiName":"text","text":"${'x'.repeat(20_000)}"}`)
      expect([large.status, ((await large.json()) as { code: string }).code]).toEqual([
        429,
        'resource_exhausted',
      ])
      const get = await fetch(`http://127.0.0.1:${listener.port}/serving.v1.ServingService/Call`)
      expect(get.status).toBe(405)
      expect((await post(json, body, 'Nothing')).status).toBe(404)
    })

    it('keeps the type of the protocol where a function sets that of its own body', async () => {
      const answer = await post(
        { 'content-type': 'application/json' },
        '{"apiName":"header","text":"x-cup"}',
      )
      expect(answer.headers.get('content-type')).toBe('application/json')
      expect(answer.headers.get('x-kettle')).toBe('boiling')
      expect(await answer.json()).toEqual({ text: 'undefined' })
    })

    it('reads both spellings of names, and refuses what is no such message', async () => {
      const json = { 'content-type': 'application/json; charset=utf-8' }
      const call = async (body: string) => {
        const answer = await post(json, body)
        return [answer.status, await answer.json()]
      }
      expect(await call('{"api_name":"ndarray","ndarray":{"float_values":["NaN",0.1]}}')).toEqual([
        200,
        { ndarray: { dtype: 'DTYPE_FLOAT', shape: [2], floatValues: ['NaN', 0.1] } },
      ])
      expect(await call('{"apiName":"json","json":null}')).toEqual([200, { json: null }])
      for (const body of [
        '',
        '[]',
        '{"apiName":1}',
        '{"apiName":"json"}',
        '{"apiName":"ndarray","ndarray":{"floatValues":["x"]}}',
        '{"apiName":"ndarray","ndarray":{"int32Values":[1.5]}}',
        '{"apiName":"ndarray","ndarray":{"int64Values":["9223372036854775808"]}}',
        '{"apiName":"ndarray","ndarray":{"dtype":"DTYPE_TEA"}}',
        '{"apiName":"file","file":{"content":"*"}}',
        `{"apiName":"json","json":${'['.repeat(5000)}`,
      ]) {
        expect(await call(body)).toMatchObject([400, { code: 'invalid_argument' }])
      }
    })
  })
}
