import { connect, type Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { Text } from '../../src/descriptors/text.ts'
import { Bytes, bothEngines, bytes, deferred, post, start, turns } from './harness.ts'

const mib = 1024 * 1024

/** Waits until a counter stands still for many turns of the event loop, or passes a cap. */
async function settles(read: () => number, cap: number): Promise<number> {
  for (let still = 0, last = read(); still < 50 && last <= cap; ) {
    await turns(5)
    const now = read()
    still = now === last ? still + 1 : 0
    last = now
  }
  return read()
}

/**
 * Sends a request and reads the response in small steps, into one buffer so that the client makes no garbage; returns
 * the largest growth of the process's memory on the way.
 */
function sip(
  port: number,
  request: string,
  total: number,
): Promise<{ growth: number; received: number }> {
  const base = process.memoryUsage()
  let [growth, received, reads] = [0, 0, 0]
  return new Promise((resolve, reject) => {
    const socket: Socket = connect({
      port,
      host: '127.0.0.1',
      onread: {
        buffer: Buffer.alloc(32 * 1024),
        callback: (length) => {
          received += length
          if (reads++ % 16 === 0) {
            const now = process.memoryUsage()
            growth = Math.max(growth, now.rss - base.rss, now.external - base.external)
          }
          if (received >= total) {
            socket.destroy()
            resolve({ growth, received })
          }
          // A pause after each read: the server meets a full socket again and again.
          else void turns(2).then(() => socket.resume())
          return false
        },
      },
    })
    socket.once('error', reject)
    socket.once('connect', () => {
      socket.write(request)
      socket.resume()
    })
  })
}

describe.each(bothEngines)('slow readers of streams on %s', (engine) => {
  it('sends 50 MB to a slow reader without buffering them', async () => {
    const body = Buffer.alloc(50_000_000, 'z')
    const server = await start(engine, (svc) => {
      svc.api({ ...bytes, name: 'whole' }, () => body)
      svc.api({ ...bytes, name: 'pieces' }, () => [body])
      svc.api(
        {
          input: new Bytes(),
          output: new Bytes([['content-length', String(body.length)]]),
          name: 'sized',
        },
        () =>
          (async function* () {
            for (let at = 0; at < body.length; at += mib) yield body.subarray(at, at + mib)
          })(),
      )
    })
    for (const path of ['/whole', '/pieces', '/sized']) {
      const { growth, received } = await sip(server.port, post(path), body.length)
      expect(received).toBeGreaterThanOrEqual(body.length)
      expect(growth / mib).toBeLessThan(25)
    }
  })

  it('holds an endless generator back while the client does not read, and ends it when the client goes', async () => {
    let produced = 0
    const ended = deferred()
    const piece = Buffer.alloc(64 * 1024, 'e')
    const server = await start(
      engine,
      (svc) =>
        svc.api({ ...bytes, name: 'endless' }, (body) =>
          body.length > 0
            ? 'quick'
            : (async function* () {
                try {
                  for (;;) {
                    produced += piece.length
                    yield piece
                  }
                } finally {
                  ended.resolve()
                }
              })(),
        ),
      { maxInFlight: 1 },
    )
    const raw = await server.connect()
    raw.socket.pause()
    raw.write(post('/endless'))
    const stalled = await settles(() => produced, 64 * mib)
    expect(stalled).toBeGreaterThan(0)
    expect(stalled / mib).toBeLessThan(64)
    // It goes on when the client reads: more than every buffer on the way holds.
    raw.socket.removeAllListeners('data')
    let received = 0
    await new Promise<void>((resolve) => {
      raw.socket.on('data', (data) => {
        received += data.length
        if (received > stalled + 8 * mib) resolve()
      })
      raw.socket.resume()
    })
    raw.destroy()
    await ended.promise
    expect((await server.ask(post('/endless', 'x'))).text).toBe('quick')
  })

  it('delivers all that a generator has yielded while it waits for more', async () => {
    const never = deferred()
    const piece = Buffer.alloc(16_000, 1)
    let produced = 0
    let pause = false
    const server = await start(engine, (svc) =>
      svc.api({ ...bytes, name: 'pause' }, () =>
        (async function* () {
          for (;;) {
            if (pause) await never.promise
            produced += piece.length
            yield piece
          }
        })(),
      ),
    )
    const raw = await server.connect()
    raw.socket.removeAllListeners('data')
    raw.socket.pause()
    raw.write(post('/pause'))
    // Now the last piece is partly in a buffer of the server, and nothing more comes that could push it out.
    await settles(() => produced, 64 * mib)
    pause = true
    let received = 0
    await new Promise<void>((resolve) => {
      raw.socket.on('data', (data) => {
        for (const byte of data) if (byte === 1) received++
        if (received >= produced) resolve()
      })
      raw.socket.resume()
    })
    raw.destroy()
    never.resolve()
  })

  it('ends a generator whose client left while it waited', async () => {
    const entered = deferred()
    const ended = deferred()
    const server = await start(engine, (svc) =>
      svc.api({ input: new Text(), output: new Text() }, async function* wait(_text, ctx) {
        try {
          yield 'first'
          entered.resolve()
          await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))
          yield 'second'
        } finally {
          ended.resolve()
        }
      }),
    )
    const raw = await server.connect()
    raw.write(post('/wait', 'x'))
    await raw.until('first')
    await entered.promise
    raw.destroy()
    await ended.promise
  })
})
