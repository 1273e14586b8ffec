import { io, type Service } from 'serving'
import { describe, expect, it } from 'vitest'
import { engines, post, start, turns } from './harness.ts'

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
    await socket.writeAlone(post('/take', body, { 'content-type': 'multipart/form-data; boundary=B' }).slice(0, -200))
    await socket.writeAlone(body.slice(-200))
    expect(await socket.answer()).toMatchObject({ status: 400 })
    await turns(20)
    expect(called).toEqual([])
  })
})
