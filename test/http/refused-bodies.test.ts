import { io, type Service, Unauthorized } from 'serving'
import { describe, expect, it, onTestFinished } from 'vitest'
import { bytes, engines, post, start, turns } from './harness.ts'

describe.each(engines)('a refused body on %s', (engine) => {
  it('runs no function for a form whose last part is refused', async () => {
    const called: unknown[] = []
    const form = new io.Multipart({ file: new io.File(), meta: new io.JSON() })
    const take = (svc: Service) =>
      svc.api({ input: form, output: new io.JSON(), name: 'take' }, ({ meta }) => called.push(meta))
    const { connect } = await start(engine, take)
    const socket = await connect()
    const part = (name: string, text: string) =>
      `--B\r\ncontent-disposition: form-data; name="${name}"; filename="n"\r\n\r\n${text}\r\n`
    const body = `${part('file', 'x'.repeat(600_000))}${part('meta', '{"a":')}--B--\r\n`
    await socket.writeAlone(
      post('/take', body, { 'content-type': 'multipart/form-data; boundary=B' }).slice(0, -200),
    )
    await socket.writeAlone(body.slice(-200))
    expect(await socket.answer()).toMatchObject({ status: 400 })
    await turns(20)
    expect(called).toEqual([])
  })
})

// uWebSockets.js gives a body that it drops 10 s.
describe('a refused body that drips on node', () => {
  it.each([
    [404, 'POST', '/nowhere'],
    [405, 'PUT', '/take'],
    [401, 'POST', '/take'],
    [401, 'POST', '/later'],
  ])('is given up after bodyTimeoutMs, with %d to %s %s', async (status, method, path) => {
    const refuse = () => {
      throw new Unauthorized('expected a key')
    }
    const define = (svc: Service) => {
      svc.api({ ...bytes, name: 'take', auth: refuse }, (body) => body)
      svc.api({ ...bytes, name: 'later', auth: async () => refuse() }, (body) => body)
    }
    const { connect } = await start('node', define, { bodyTimeoutMs: 100 })
    const socket = await connect()
    socket.write(post(path, '', { 'content-length': '100000' }, method))
    expect((await socket.answer()).status).toBe(status)
    const drip = setInterval(() => socket.write('x'), 10)
    onTestFinished(() => clearInterval(drip))
    await socket.closed
  })

  it('serves on where the body comes', async () => {
    const { connect } = await start(
      'node',
      (svc) => svc.api({ ...bytes, name: 'take' }, (body) => body),
      {
        bodyTimeoutMs: 100,
      },
    )
    const socket = await connect()
    await socket.writeAlone(post('/nowhere', 'abc').slice(0, -1))
    expect((await socket.answer()).status).toBe(404)
    await socket.writeAlone('c')
    await new Promise((resolve) => setTimeout(resolve, 300))
    socket.write(post('/take', 'next'))
    expect((await socket.answer()).text).toBe('next')
  })
})
