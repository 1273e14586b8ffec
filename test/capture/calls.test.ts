import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { WebSocket } from 'ws'
import { apiKey } from '../../src/api/auth/index.ts'
import { BadInput, io, NDArray } from '../../src/index.ts'
import { GrpcClient } from '../rpc/harness.ts'
import { folder, rowsOf, startCapture, valuesOf } from './harness.ts'

const json = { input: new io.JSON(), output: new io.JSON() }
const text = { input: new io.Text(), output: new io.Text() }
const isNumber = expect.any(Number)
const sha256 = (value: string) => createHash('sha256').update(value).digest('hex')

/** @returns options that record into a bucket, whose keys are in the environment until the test ends. */
function capturesOf(bucket: Server) {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'id')
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'a secret')
  onTestFinished(() => void vi.unstubAllEnvs())
  const { port } = bucket.address() as AddressInfo
  return { to: `s3://captures/all?endpoint=http://127.0.0.1:${port}` }
}

describe('a capture', () => {
  it('says when, what and who called, how it ended and how long its parts took', async () => {
    const keys = { keys: [{ name: 'ann', hash: sha256('secret-key') }] }
    const { post, rows } = await startCapture(
      (svc) =>
        svc.api(json, function echo(value) {
          return value
        }),
      {},
      { serviceOptions: { auth: apiKey(keys) } },
    )
    const before = Date.now()
    const headers = { 'x-api-key': 'secret-key', 'x-request-id': 'r-1' }
    await post('echo', { a: 1 }, headers)
    await post('echo', { a: 1 }, { 'x-api-key': 'wrong' })
    const captured = await rows('echo')
    expect(captured).toEqual([
      {
        time: expect.any(Date),
        request_id: 'r-1',
        api: 'echo',
        service: 'captured',
        service_version: '1.2.3',
        caller: sha256('captured\n["","ann"]').slice(0, 16),
        protocol: 'http',
        status: 200,
        decode_ms: isNumber,
        encode_ms: isNumber,
        total_ms: isNumber,
        input: '{"a":1}',
        output: '{"a":1}',
      },
    ])
    const time = captured[0].time as Date
    expect(time.getTime()).toBeGreaterThanOrEqual(before)
    expect(time.getTime()).toBeLessThanOrEqual(Date.now())
    expect(JSON.stringify(captured)).not.toContain('secret-key')
  })

  it('has calls that fail: before, in and after the function', async () => {
    const { post, rows } = await startCapture((svc) => {
      svc.api({ input: new io.NumpyNdarray(), output: new io.NumpyNdarray() }, function odd(input) {
        if (input.data[0] === 1) throw new BadInput('expected no 1')
        return input.data[0] === 2 ? (new Date() as never) : new NDArray(Float64Array.of(3))
      })
      svc.api(text, function created(value, ctx) {
        ctx.response.status = 201
        return value
      })
    })
    for (const body of ['[', '[1]', '[2]', '[3]'])
      await post('odd', body, { 'content-type': 'application/json' })
    await post('created', 'a', { 'content-type': 'text/plain' })
    const outcomes = (await rows('odd')).map(({ status, error, ...row }) => [
      status,
      error,
      row['input.float64'],
      row['output.float64'],
    ])
    expect(outcomes).toEqual([
      [400, 'bad_input', undefined, undefined],
      [400, 'bad_input', [1], undefined],
      [500, 'bad_output', [2], undefined],
      [200, undefined, [3], [3]],
    ])
    expect(await rows('created')).toMatchObject([{ status: 201, output: 'a' }])
  })

  it('sees calls over every protocol', async () => {
    const { base, listener, post, rows } = await startCapture(
      (svc) => {
        const array = new io.NumpyNdarray({ dtype: 'float32', shape: [2], enforceShape: true })
        svc.api({ input: array, output: array }, function same(input) {
          return input
        })
      },
      {},
      { serviceOptions: { mcp: true }, serveOptions: { grpcPort: 0 } },
    )
    await post('same', [1, 2])
    await fetch(`${base}/serving.v1.ServingService/Call`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'connect-protocol-version': '1' },
      body: JSON.stringify({
        apiName: 'same',
        ndarray: { dtype: 'DTYPE_FLOAT', shape: [2], floatValues: [1, 2] },
      }),
    })
    const grpc = new GrpcClient(listener.grpcPort as number)
    onTestFinished(() => grpc.close())
    const message = { dtype: 'DTYPE_FLOAT', shape: [2], floatValues: [1, 2] }
    await grpc.call('same', { field: 'ndarray', message } as never)
    const tensor = { name: 'input', datatype: 'FP32', shape: [2], data: [1, 2] }
    expect((await post('v2/models/same/infer', { inputs: [tensor] })).status).toBe(200)
    const call = {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'same', arguments: { input: [1, 2] } },
    }
    await post('mcp', call, { accept: 'application/json, text/event-stream' })
    const captured = await rows('same')
    expect(captured.map(({ protocol }) => protocol)).toEqual([
      'http',
      'connect',
      'grpc',
      'oip+http',
      'mcp+http',
    ])
    for (const row of captured)
      expect(row).toMatchObject({ 'input.float32': [1, 2], 'output.float32': [1, 2], status: 200 })
  })

  it('has the messages of live streams as number, length and hash', async () => {
    const { base, rows } = await startCapture((svc) => {
      svc.live('upper', text, async function* (texts) {
        for await (const each of texts) yield each.toUpperCase()
      })
    })
    const socket = new WebSocket(`${base.replace('http', 'ws')}/upper`)
    await once(socket, 'open')
    for (const message of ['a', 'bc']) {
      socket.send(message)
      await once(socket, 'message')
    }
    socket.close()
    await once(socket, 'close')
    const [row] = await rows('upper')
    expect(row).toMatchObject({ protocol: 'live+http', api: 'upper' })
    expect(valuesOf(row)).toEqual({
      'input.messages': 2,
      'input.length': 3,
      'input.sha256': sha256('abc'),
      'output.messages': 2,
      'output.length': 3,
      'output.sha256': sha256('ABC'),
    })
  })

  it('writes nothing of what redact names, and marks it', async () => {
    const { post, path, rows } = await startCapture(
      (svc) => {
        svc.api(json, function user(value) {
          return value
        })
        svc.api({ input: new io.PandasDataFrame(), output: new io.Text() }, function table() {
          return 'secret'
        })
        const form = new io.Multipart({ user: new io.JSON(), note: new io.Text() })
        svc.api({ input: form, output: new io.Text() }, function form() {
          return 'done'
        })
      },
      { redact: ['input.email', 'input.user.email', 'input.users.email', 'input.note', 'output'] },
    )
    const user = {
      id: 1,
      email: 'secret',
      user: { email: 'secret', id: 2 },
      users: [{ email: 'secret' }, { id: 3 }],
    }
    await post('user', user)
    await post('user', { id: 4 })
    await post('table', [{ email: 'secret', id: 5, user: { email: 'secret' } }])
    const sent = new FormData()
    sent.set(
      'user',
      new Blob([JSON.stringify({ email: 'secret', id: 6 })], { type: 'application/json' }),
    )
    sent.set('note', 'secret')
    await post('form', sent)
    const [first, second] = await rows('user')
    expect(first).toMatchObject({
      input: '{"id":1,"user":{"id":2},"users":[{},{"id":3}]}',
      redacted: ['input.email', 'input.user.email', 'input.users.email', 'output'],
    })
    expect(second).toMatchObject({ input: '{"id":4}', redacted: ['output'] })
    const tables = await rowsOf(join(path, 'table'))
    expect(tables).toMatchObject([
      { 'input.id': [5], redacted: ['input.email', 'input.user', 'output'] },
    ])
    const forms = await rowsOf(join(path, 'form'))
    expect(forms).toMatchObject([
      { 'input.user': '{"id":6}', redacted: ['input.user.email', 'input.note', 'output'] },
    ])
    expect(JSON.stringify([first, second, tables, forms])).not.toContain('secret')
  })

  it('takes the rate and place of an API before those of the service, and none for false', async () => {
    const other = folder()
    const { post, rows } = await startCapture(
      (svc) => {
        svc.api({ ...json, capture: false }, function quiet(value) {
          return value
        })
        svc.api({ ...json, capture: { to: `file:${other}`, rate: 1 } }, function loud(value) {
          return value
        })
        svc.api(json, function usual(value) {
          return value
        })
      },
      { rate: 0 },
    )
    for (const api of ['quiet', 'loud', 'usual']) await post(api, 1)
    await expect(rows('quiet')).rejects.toThrow('ENOENT')
    await expect(rows('usual')).rejects.toThrow('ENOENT')
    expect((await rowsOf(join(other, 'loud'))).map(({ api }) => api)).toEqual(['loud'])
  })

  it('counts and drops what is beyond maxMbPerSecond, and answers', async () => {
    const { base, post, rows } = await startCapture(
      (svc) =>
        svc.api(text, function echo(value) {
          return value
        }),
      { maxMbPerSecond: 0.001 },
    )
    const long = 'x'.repeat(5_000)
    expect(await (await post('echo', long, { 'content-type': 'text/plain' })).text()).toBe(long)
    await expect
      .poll(async () => (await fetch(`${base}/metrics`)).text())
      .toContain('serving_capture_dropped_total{api="echo",reason="rate"} 1')
    await expect(rows('echo')).rejects.toThrow('ENOENT')
  })

  it('counts calls that it cannot write, and answers', async () => {
    const file = join(folder(), 'a-file')
    writeFileSync(file, '')
    const { listener, log, post } = await startCapture(
      (svc) =>
        svc.api(json, function echo(value) {
          return value
        }),
      { to: `file:${file}/below` },
    )
    expect(await (await post('echo', [1])).json()).toEqual([1])
    await listener.close()
    expect(log()).toContain('recorded calls were not written')
    const families = await listener.collectMetrics()
    expect(families).toContainEqual(
      expect.objectContaining({
        name: 'serving_capture_dropped_total',
        values: [{ labels: { api: 'echo', reason: 'unwritten' }, value: 1 }],
      }),
    )
  })

  it('answers while a bucket fails, and counts what that did not take', async () => {
    const bucket = createServer((request, response) => {
      request.resume().on('end', () => response.writeHead(403).end('<Code>AccessDenied</Code>'))
    })
    await once(bucket.listen(0, '127.0.0.1'), 'listening')
    onTestFinished(() => void bucket.close())
    const { listener, log, post } = await startCapture(
      (svc) =>
        svc.api(json, function echo(value) {
          return value
        }),
      capturesOf(bucket),
    )
    expect(await (await post('echo', [1])).json()).toEqual([1])
    await listener.close()
    expect(log()).toContain('the bucket answered 403 AccessDenied')
    expect(log()).not.toContain('a secret')
    expect(await listener.collectMetrics()).toContainEqual(
      expect.objectContaining({
        name: 'serving_capture_dropped_total',
        values: [{ labels: { api: 'echo', reason: 'unwritten' }, value: 1 }],
      }),
    )
  })

  it('stops although a bucket does not answer, and says and counts what that did not take', async () => {
    const bucket = createServer(() => {})
    await once(bucket.listen(0, '127.0.0.1'), 'listening')
    onTestFinished(() => {
      bucket.closeAllConnections()
      bucket.close()
    })
    const { listener, log, post } = await startCapture(
      (svc) =>
        svc.api(json, function echo(value) {
          return value
        }),
      capturesOf(bucket),
      { serveOptions: { drainTimeoutMs: 0 } },
    )
    for (const each of [1, 2]) expect(await (await post('echo', each)).json()).toBe(each)
    await listener.close()
    expect(log()).toContain('2 recorded calls were not written before the server stopped')
    expect(await listener.collectMetrics()).toContainEqual(
      expect.objectContaining({
        name: 'serving_capture_dropped_total',
        values: [{ labels: { api: 'echo', reason: 'unwritten' }, value: 2 }],
      }),
    )
  })

  it('drops a call with a column of the name that a type of another has, and keeps the others', async () => {
    const { post, rows } = await startCapture((svc) => {
      svc.api({ input: new io.PandasDataFrame(), output: new io.Text() }, function odd() {
        return 'done'
      })
    })
    for (const row of [{ 'a (list<str>)': 1 }, { a: 1 }, { a: 'x' }, { a: 2 }])
      expect((await post('odd', [row])).status).toBe(200)
    expect((await rows('odd')).map(valuesOf)).toEqual([
      { 'input.a (list<str>)': [1], output: 'done' },
      { 'input.a': [1], output: 'done' },
      { 'input.a': [2], output: 'done' },
    ])
  })

  it('drops a call that names more columns than a file may have, and keeps the others', async () => {
    const { post, rows } = await startCapture((svc) => {
      svc.api({ input: new io.PandasDataFrame(), output: new io.Text() }, function wide() {
        return 'done'
      })
    })
    const many = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`c${i}`, 1]))
    expect((await post('wide', [many])).status).toBe(200)
    await post('wide', [{ a: 1 }])
    expect((await rows('wide')).map(valuesOf)).toEqual([{ 'input.a': [1], output: 'done' }])
  })
})

describe('the option capture', () => {
  it.each([
    [
      { to: 'here' },
      'expected file:./FOLDER or s3://BUCKET/FOLDER for to of capture of Service, received "here"',
    ],
    [
      { to: 'file:x', rate: 2 },
      'expected a number from 0 to 1 for rate of capture of Service, received 2',
    ],
    [
      { to: 'file:x', redact: ['email'] },
      'expected a list of paths such as input.email for redact of capture of Service',
    ],
    [{}, 'for to of capture of Service, received undefined'],
  ])('refuses %j', async (capture, message) => {
    const { Service } = await import('../../src/index.ts')
    expect(() => new Service('s', { capture: capture as never })).toThrow(message)
  })
})
