import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { silentLogger } from '../../src/engine/log.ts'
import { io, type Listener, Service, serve } from '../../src/index.ts'
import { engines } from './harness.ts'

let listener: Listener
afterEach(() => listener.close())

/**
 * Posts a gzip body, and counts the small requests that are answered until it is: the loop that is held answers none.
 */
async function countNeighbours(path: string, body: string): Promise<{ status: number; text: string; count: number }> {
  const url = `http://127.0.0.1:${listener.port}`
  const ask = () => fetch(`${url}/small`, { method: 'POST', body: '1' }).then((response) => response.text())
  await ask()
  let isOver = false
  const attack = fetch(url + path, {
    method: 'POST',
    body: gzipSync(body),
    headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
  })
    .then(async (response) => ({ status: response.status, text: await response.text() }))
    .finally(() => {
      isOver = true
    })
  let count = 0
  while (!isOver) {
    await ask()
    count++
  }
  return { ...(await attack), count }
}

describe.each(engines)('on %s other requests are answered', (engine) => {
  const start = async (register: (svc: Service) => void) => {
    const svc = new Service('neighbours')
    svc.api({ input: new io.Text(), output: new io.Text(), name: 'small' }, (text) => text)
    register(svc)
    const options = {
      port: 0,
      host: '127.0.0.1',
      engine,
      maxUnpackRatio: 2000,
      logger: silentLogger(() => {}),
    } as const
    listener = await serve(svc, options)
  }
  const length = { output: new io.JSON(), name: 'length' }

  it('while a JSON body of many small values is parsed', async () => {
    await start((svc) => svc.api({ ...length, input: new io.JSON() }, (value) => (value as unknown[]).length))
    const answer = await countNeighbours('/length', `[${'[],'.repeat(900_000)}0]`)
    expect([answer.status, answer.text]).toEqual([200, '900001'])
    expect(answer.count).toBeGreaterThan(8)
  })

  it('while a schema checks many elements, and refuses them after 64', async () => {
    await start((svc) =>
      svc.api({ ...length, input: new io.JSON({ schema: z.array(z.string()) }) }, (list) => list.length),
    )
    const right = await countNeighbours('/length', `[${'"a",'.repeat(500_000)}"a"]`)
    expect([right.status, right.text]).toEqual([200, '500001'])
    expect(right.count).toBeGreaterThan(8)
    // 60 MB of these in 58 KB ended the worker: an issue for each is half a kilobyte.
    const wrong = await countNeighbours('/length', `[${'1,'.repeat(2_000_000)}1]`)
    expect(wrong.status).toBe(400)
    expect(JSON.parse(wrong.text).detail).toContain('and at least 59 more')
    expect(wrong.count).toBeGreaterThan(8)
  })
})
