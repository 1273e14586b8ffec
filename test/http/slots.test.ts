import { describe, expect, it } from 'vitest'
import { File } from '../../src/descriptors/file.ts'
import { bytes, engines, post, start } from './harness.ts'

const megabyte = 1024 * 1024

describe.each(engines)('slots on %s', (engine) => {
  it('are not taken by clients that announce a body and do not send it', async () => {
    const server = await start(
      engine,
      (svc) => svc.api({ ...bytes, name: 'echo' }, (body) => body),
      { maxInFlight: 2 },
    )
    const slow = await Promise.all(Array.from({ length: 8 }, () => server.connect()))
    for (const raw of slow) raw.write(post('/echo', 'begin', { 'content-length': '4000' }))
    const honest = await server.connect()
    for (let i = 0; i < 5; i++) {
      honest.write(post('/echo', `request ${i}`))
      const answer = await honest.answer()
      expect([answer.status, answer.text]).toEqual([200, `request ${i}`])
    }
    // Whoever sends the rest is answered as ever.
    slow[0].write('x'.repeat(3995))
    expect((await slow[0].answer()).text).toHaveLength(4000)
  })

  it('are taken when the body is there: one more is refused and its connection goes on', async () => {
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const server = await start(
      engine,
      (svc) =>
        svc.api({ ...bytes, name: 'hold' }, async (body) => {
          await held
          return body
        }),
      { maxInFlight: 1 },
    )
    const [first, second] = [await server.connect(), await server.connect()]
    // Both were let in by their headers, and only one slot is there when they are complete.
    for (const raw of [first, second])
      await raw.writeAlone(post('/hold', 'a', { 'content-length': '2' }))
    await first.writeAlone('1')
    second.write('2')
    const refused = await second.answer()
    expect([refused.status, JSON.parse(refused.text).code]).toEqual([503, 'overloaded'])
    release()
    expect((await first.answer()).text).toBe('a1')
    second.write(post('/hold', 'later'))
    expect((await second.answer()).text).toBe('later')
  })

  it('come back from a body that is received in pieces and does not end', async () => {
    const server = await start(
      engine,
      (svc) =>
        svc.api({ input: new File(), output: bytes.output, name: 'size' }, (file) =>
          Buffer.from(`${file.size}`),
        ),
      { maxInFlight: 1, bodyTimeoutMs: 60 },
    )
    const raw = await server.connect()
    raw.write(
      post('/size', 'x'.repeat(1000), {
        'content-length': String(megabyte),
        'content-type': 'text/plain',
      }),
    )
    const late = await raw.answer()
    expect([late.status, JSON.parse(late.text).detail]).toEqual([
      504,
      'expected the whole body within 60 ms or at 16384 bytes a second, it did not come',
    ])
    expect((await server.ask(post('/size', 'abc', { 'content-type': 'text/plain' }))).text).toBe(
      '3',
    )
  })

  it('come back from a client that does not read its answer', async () => {
    const server = await start(
      engine,
      (svc) => {
        svc.api({ ...bytes, name: 'whole' }, () => new Uint8Array(16 * megabyte))
        svc.api({ ...bytes, name: 'pieces' }, async function* () {
          for (let i = 0; i < 256; i++) yield new Uint8Array(64 * 1024)
        })
        svc.api({ ...bytes, name: 'echo' }, (body) => body)
      },
      { maxInFlight: 1, sendTimeoutMs: 50 },
    )
    for (const path of ['/whole', '/pieces']) {
      const raw = await server.connect()
      raw.socket.pause()
      raw.write(post(path))
      const honest = await server.connect()
      let status = 0
      do {
        honest.write(post('/echo', 'x'))
        status = (await honest.answer()).status
      } while (status === 503)
      expect(status).toBe(200)
      raw.destroy()
    }
  }, 60_000)

  it('share a budget of memory with large bodies and answers', async () => {
    const server = await start(
      engine,
      (svc) => {
        svc.api({ ...bytes, name: 'size' }, (body) => String(body.length))
        svc.api(
          { ...bytes, name: 'large' },
          (body) => new Uint8Array(Number(Buffer.from(body).toString())),
        )
      },
      { maxMemoryBytes: 3 * megabyte },
    )
    const [one, two] = [await server.connect(), await server.connect()]
    await one.writeAlone(
      post('/size', 'x'.repeat(600_000), { 'content-length': String(2 * megabyte) }),
    )
    two.write(post('/size', 'x'.repeat(600_000), { 'content-length': String(2 * megabyte) }))
    const refused = await two.answer()
    expect([
      refused.status,
      refused.headers.get('retry-after'),
      JSON.parse(refused.text).code,
    ]).toEqual([503, ['1'], 'overloaded'])
    const answer = await server.ask(post('/large', String(2 * megabyte)))
    expect([answer.status, JSON.parse(answer.text).detail]).toEqual([
      503,
      'too little memory for another large body or answer',
    ])
    // Small ones are not counted.
    expect((await server.ask(post('/size', 'abc'))).text).toBe('3')
    one.write('x'.repeat(2 * megabyte - 600_000))
    expect((await one.answer()).text).toBe(String(2 * megabyte))
    expect((await server.ask(post('/large', String(2 * megabyte)))).body.length).toBe(2 * megabyte)
  })

  it('share it with bodies that paths without slots get', async () => {
    const server = await start(engine, () => {}, { maxMemoryBytes: 3 * megabyte })
    const [one, two] = [await server.connect(), await server.connect()]
    const length = { 'content-length': String(2 * megabyte) }
    const probe = post('/livez', 'x'.repeat(600_000), length).replace('POST', 'GET')
    await one.writeAlone(probe)
    two.write(probe)
    expect((await two.answer()).status).toBe(503)
    one.destroy()
    expect((await server.ask('GET /livez HTTP/1.1\r\nhost: x\r\n\r\n')).status).toBe(200)
  })
})
