/** What jobs take of a server beside the request that submits them: their memory, slots, and disk. */

import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { apiKey, rateLimit } from '../../src/api/auth/index.ts'
import { deferred } from '../../src/core/promise.ts'
import { Forbidden, io, type Service } from '../../src/index.ts'
import { getJobRequest, jobMessage } from '../../src/jobs/job-messages.ts'
import { Jobs } from '../../src/jobs/jobs.ts'
import { decodeResponse, encodeRequest } from '../../src/messages/envelope.ts'
import { bothEngines } from '../engines.ts'
import { GrpcClient } from '../rpc/harness.ts'
import { visitOf } from '../visit.ts'
import { folder, jsonOf, type Served, start } from './harness.ts'
import { completed, newJob, openStore, until } from './stores.ts'

const mb = 1024 * 1024
const json = { input: new io.JSON(), output: new io.JSON() }
const bytes = {
  input: new io.Text(),
  output: new io.File({ mimeType: 'application/octet-stream' }),
}
/** Answers with as many bytes as it is asked for, each of them its number modulo 251. */
const bulk = (svc: Service) =>
  svc.api({ ...bytes, name: 'bulk', async: true, maxInFlight: 1_000 }, (size: string) =>
    bulkOf(Number(size)),
  )
const pattern = Uint8Array.from({ length: 251 }, (_, i) => i)
const bulkOf = (size: number) => Buffer.alloc(size, pattern)
/** More than sockets of this machine take from a server whose client reads nothing. */
const large = 60 * mb

const bytesOf = async (answer: Response) => Buffer.from(await answer.arrayBuffer())

/** Asks for a path and reads no more than the socket does. */
async function unread({ listener }: Served, path: string): Promise<Socket> {
  const socket = connect(listener.port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`)
  // The head has come: the server sends.
  await once(socket, 'readable')
  return socket
}

describe.skipIf(!isBuiltin('node:sqlite')).each(bothEngines)('results of jobs on %s', (engine) => {
  it.each([100, 300_000, 3 * mb + 1])(
    'of %d bytes are those of the function, and nobody may keep them',
    async (size) => {
      const { submit, result, get, base } = await start(engine, bulk)
      const job = await submit('/bulk', String(size))
      const answer = await result(job)
      expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store'])
      expect(answer.headers.get('content-length')).toBe(String(size))
      expect(Buffer.compare(await bytesOf(answer), bulkOf(size))).toBe(0)
      const head = await fetch(`${base}${job}/result`, { method: 'HEAD' })
      expect(head.status).toBe(200)
      const task = await get(`/bulk/get?task_id=${job.split('/').pop()}`)
      expect([task.headers.get('cache-control'), (await bytesOf(task)).length]).toEqual([
        'no-store',
        size,
      ])
    },
  )

  it('hold memory while their clients do not read, and at the end none', async () => {
    const served = await start(engine, bulk, { maxMemoryBytes: 4 * mb })
    const job = await served.submit('/bulk', String(large))
    await until(async () => (await served.status(job)).status === 'completed')
    const sockets = await Promise.all(
      Array.from({ length: 4 }, () => unread(served, `${job}/result`)),
    )
    const refused = await until(async () => {
      const answer = await served.get(`${job}/result`)
      if (answer.status === 503) return answer
      await bytesOf(answer)
      return undefined
    })
    expect(await jsonOf(refused)).toMatchObject({
      code: 'overloaded',
      detail: expect.stringContaining('memory'),
    })
    for (const socket of sockets) socket.destroy()
    await until(async () => {
      const answer = await served.get(`${job}/result`)
      return answer.status === 200 && (await bytesOf(answer)).length === large
    })
  })

  it('count as requests in flight while they are sent', async () => {
    const served = await start(engine, bulk, { maxInFlight: 2 })
    const job = await served.submit('/bulk', String(large))
    await until(async () => (await served.status(job)).status === 'completed')
    await Promise.all([1, 2].map(() => unread(served, `${job}/result`)))
    await until(async () => {
      const answer = await served.get(`${job}/result`)
      return answer.status === 503 || void (await bytesOf(answer))
    })
    expect((await served.get(job)).status).toBe(200)
  })

  it('end at sendTimeoutMs if nobody reads them', async () => {
    const served = await start(engine, bulk, { maxInFlight: 1, sendTimeoutMs: 300 })
    const job = await served.submit('/bulk', String(large))
    await until(async () => (await served.status(job)).status === 'completed')
    const socket = await unread(served, `${job}/result`)
    await until(() => served.log().includes('expected the client to read the response'))
    socket.destroy()
    await until(async () => (await served.result(job)).status === 200)
  })

  it('are told before their status if the store has lost them', async () => {
    const path = folder()
    const { submit, result, get, log } = await start(engine, bulk, {}, {}, join(path, 'jobs.db'))
    const job = await submit('/bulk', String(2 * mb))
    await bytesOf(await result(job))
    const blobs = join(path, 'jobs.db.blobs')
    rmSync(blobs, { recursive: true })
    const answer = await get(`${job}/result`)
    expect([answer.status, await answer.text()]).toEqual([500, expect.not.stringContaining(path)])
    expect(log()).toContain('a stored body is lost')
  })
})

describe.skipIf(!isBuiltin('node:sqlite'))('results of jobs over RPC', () => {
  it('hold their stored length, over gRPC and Connect', async () => {
    const served = await start('node', bulk, { grpcPort: 0, maxMemoryBytes: 30 * mb })
    const grpc = new GrpcClient(served.listener.grpcPort as number)
    onTestFinished(() => grpc.close())
    const job = await served.submit('/bulk', String(8 * mb))
    await until(async () => (await served.status(job)).status === 'completed')
    const id = job.split('/').pop() as string
    const path = '/serving.v1.ServingService/GetJob'
    const ask = () => grpc.raw(getJobRequest.encode({ id }), {}, 'GetJob')
    const { bytes: answer } = await ask()
    const { result } = jobMessage.decode(answer as Buffer)
    expect(decodeResponse(result as Buffer)).toMatchObject({ field: 'file' })
    const all = await Promise.all(Array.from({ length: 12 }, ask))
    expect(all.some(({ error }) => error?.code === 8 || error?.code === 14)).toBe(true)
    expect(all.some(({ error }) => error === undefined)).toBe(true)
    const over = await Promise.all(Array.from({ length: 12 }, () => served.post(path, { id })))
    expect(new Set(over.map(({ status }) => status))).toEqual(new Set([200, 503]))
    await Promise.all(over.map((each) => each.text()))
    expect((await served.post(path, { id })).status).toBe(200)
  })
})

describe.skipIf(!isBuiltin('node:sqlite'))('jobs that are submitted over RPC', () => {
  it('hold memory for the copy that is decoded', async () => {
    const file = { input: new io.File(), output: new io.JSON() }
    const define = (svc: Service) =>
      svc.api({ ...file, name: 'size', async: true }, ({ size }) => size)
    const served = await start('node', define, { grpcPort: 0, maxMemoryBytes: 12 * mb })
    const grpc = new GrpcClient(served.listener.grpcPort as number)
    onTestFinished(() => grpc.close())
    const submit = (size: number) => {
      const request = encodeRequest('size', {
        field: 'file',
        message: { content: Buffer.alloc(size) },
      })
      return grpc.raw(request, {}, 'SubmitJob')
    }
    const { error } = await submit(8 * mb)
    expect(error?.details).toContain('too little memory')
    expect((await submit(4 * mb)).error).toBeUndefined()
  })
})

describe.skipIf(!isBuiltin('node:sqlite')).each(bothEngines)('retries of jobs on %s', (engine) => {
  const keyOf = (name: string) => ({
    name,
    hash: createHash('sha256').update(`${name}-key`).digest('hex'),
  })
  const as = (name: string) => ({ 'x-api-key': `${name}-key` })

  it('name the input, whose bytes are there once', async () => {
    const path = folder()
    const define = (svc: Service) =>
      svc.api(
        { input: new io.Text(), output: new io.JSON(), name: 'size', async: true },
        (text: string) => text.length,
      )
    const served = await start(
      engine,
      define,
      { maxMemoryBytes: 3 * mb },
      {},
      join(path, 'jobs.db'),
    )
    const job = await served.submit('/size', 'x'.repeat(2 * mb))
    await served.result(job)
    const blobs = () => readdirSync(join(path, 'jobs.db.blobs'))
    const before = blobs()
    expect(before).toHaveLength(1)
    const jobs = await Promise.all(Array.from({ length: 20 }, () => served.post(`${job}/retry`)))
    const places = jobs.map((each) => each.headers.get('location') as string)
    expect(jobs.map(({ status }) => status)).toEqual(Array(20).fill(202))
    for (const place of places) expect(await (await served.result(place)).json()).toBe(2 * mb)
    expect(blobs()).toEqual(before)
    // Of what is below a blob, too.
    const small = await served.submit('/size', 'y'.repeat(900_000))
    await served.result(small)
    for (let i = 0; i < 5; i++)
      await served.result((await served.post(`${small}/retry`)).headers.get('location') ?? '')
    await served.listener.close()
    const file = readFileSync(join(path, 'jobs.db'))
    expect(file.length).toBeLessThan(2 * 900_000)
  })

  it('run the hooks of the API, with the state of who asks', async () => {
    let isOpen = true
    const states: unknown[] = []
    const define = (svc: Service) => {
      svc.onRequest((ctx) => {
        Object.assign(ctx.state, { at: ctx.headers.get('x-at') })
      })
      const onRequest = () => {
        if (!isOpen) throw new Forbidden('closed')
      }
      svc.api({ ...json, name: 'guarded', async: true, onRequest }, (_: unknown, ctx) => {
        states.push(ctx.state)
        return 1
      })
    }
    const { submit, result, post } = await start(
      engine,
      define,
      {},
      { auth: apiKey({ keys: [keyOf('ann')] }) },
    )
    const ann = as('ann')
    const job = await submit('/guarded', 1, { ...ann, 'x-at': 'first' })
    const id = job.split('/').pop()
    const ended = (place: string) =>
      until(async () => (await result(place).then((each) => each.status)) !== 202)
    const routes = [`${job}/retry`, `/guarded/retry?task_id=${id}`]
    await until(async () => states.length === 1)
    isOpen = false
    for (const route of routes) expect((await post(route, undefined, ann)).status).toBe(403)
    isOpen = true
    for (const route of routes)
      expect((await post(route, undefined, { ...ann, 'x-at': 'now' })).ok).toBe(true)
    await until(() => states.length === 3)
    await ended(job)
    expect(states).toEqual(['first', 'now', 'now'].map((at) => ({ caller: { name: 'ann' }, at })))
  })

  it('count against the rate limit of the API, each once', async () => {
    const onRequest = rateLimit({ rate: 0.001, burst: 3 })
    const define = (svc: Service) =>
      svc.api({ ...json, name: 'few', async: true, onRequest }, (value: unknown) => value)
    const { submit, result, post } = await start(engine, define)
    const job = await submit('/few', 1)
    await result(job)
    const id = job.split('/').pop()
    const statuses = []
    for (const route of [
      `${job}/retry`,
      `/few/retry?task_id=${id}`,
      `${job}/retry`,
      `/few/retry?task_id=${id}`,
    ])
      statuses.push((await post(route)).status)
    expect(statuses).toEqual([202, 200, 429, 429])
  })

  it('take a slot of the server', async () => {
    const gate = deferred<number>()
    const define = (svc: Service) => {
      svc.api({ ...json, name: 'held' }, () => gate.promise)
      svc.api({ ...json, name: 'echo', async: true }, (value: unknown) => value)
    }
    const { submit, result, post } = await start(engine, define, { maxInFlight: 1 })
    const job = await submit('/echo', 1)
    await result(job)
    const held = post('/held', 1)
    await until(async () => (await post('/held', 1)).status === 503)
    expect((await post(`${job}/retry`)).status).toBe(503)
    gate.resolve(1)
    await held
    expect((await post(`${job}/retry`)).status).toBe(202)
  })
})

/** Mounts a file system of at most so many bytes until the test is over. Undefined where that is not allowed. */
function smallDisk(size: string): { readonly path: string; freeze(): void } | undefined {
  const path = folder()
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'none', path]).status !== 0)
    return undefined
  onTestFinished(() => void spawnSync('umount', ['--lazy', path]))
  const freeze = () => expect(spawnSync('mount', ['-o', 'remount,ro', path]).status).toBe(0)
  return { path, freeze }
}

describe.skipIf(!isBuiltin('node:sqlite'))('a disk for jobs', () => {
  it('that is full or read-only gets large bodies refused with 507, and takes small ones elsewhere', async (test) => {
    const disk = smallDisk('1m')
    if (disk === undefined) return test.skip()
    const file = join(folder(), 'jobs.db')
    const jobs = { store: `sqlite:${file}`, blobs: disk.path }
    const { post, log } = await start('node', bulk, {}, { jobs }, file)
    const submit = (size: number) => post('/bulk', '1'.padEnd(size), { prefer: 'respond-async' })
    const refused = {
      code: 'insufficient_storage',
      detail: 'the folder of large bodies is full or read-only',
    }
    const full = await submit(2 * mb)
    expect([full.status, await jsonOf(full)]).toMatchObject([507, refused])
    expect(readdirSync(disk.path)).toEqual([])
    disk.freeze()
    const frozen = await submit(2 * mb)
    expect([frozen.status, await jsonOf(frozen)]).toMatchObject([507, refused])
    expect(log()).toMatch(/ENOSPC.*EROFS/s)
    expect((await submit(1_000)).status).toBe(202)
  })

  it('that is full gets jobs refused with 507', async (test) => {
    const disk = smallDisk('1m')
    if (disk === undefined) return test.skip()
    const { post, get } = await start('node', bulk, {}, {}, join(disk.path, 'jobs.db'))
    const submit = () => post('/bulk', '1'.padEnd(200_000), { prefer: 'respond-async' })
    const refused = await until(async () => {
      const answer = await submit()
      return answer.status !== 202 && answer
    })
    expect([refused.status, (await jsonOf(refused)).code]).toEqual([507, 'insufficient_storage'])
    expect((await get('/readyz')).status).toBe(503)
  })

  it('that is read-only is told at the start', async (test) => {
    const disk = smallDisk('1m')
    if (disk === undefined) return test.skip()
    const path = join(disk.path, 'jobs.db')
    await (await openStore({ kind: 'sqlite', path })).close()
    disk.freeze()
    await expect(openStore({ kind: 'sqlite', path })).rejects.toThrow(
      /jobs\.db cannot be opened: EROFS/,
    )
  })
})

describe.skipIf(!isBuiltin('node:sqlite')).each(bothEngines)('events of jobs on %s', (engine) => {
  it('hold memory while their clients do not read, and at the end none', async () => {
    const define = (svc: Service) => {
      svc.api({ ...json, name: 'size' }, (text) => String(text).length)
      svc.api({ ...json, name: 'words', async: true }, () => 0)
    }
    const path = join(folder(), 'jobs.db')
    // This process runs the job: an attempt of the server would hold its answer, too.
    const options = { jobRole: 'submit', maxMemoryBytes: 1_200_000 } as const
    const served = await start(engine, define, options, {}, path)
    const store = await openStore({ kind: 'sqlite', path })
    const [told, gate] = [deferred<void>(), deferred<void>()]
    const worker = store.work([{ api: 'words', concurrency: 1 }], async ({ report }) => {
      for (let i = 0; i < 250; i++) await report('partial', '\u20ac'.repeat(16 * 1024))
      told.resolve()
      await gate.promise
      return completed('')
    })
    onTestFinished(async () => {
      gate.resolve()
      await worker.stop(1_000)
      await store.close()
    })
    const job = await served.submit('/words', 0)
    await told.promise
    const ask = async () => (await served.post('/size', ['x'.repeat(mb)])).status
    expect(await ask()).toBe(200)
    const sockets = await Promise.all(
      Array.from({ length: 3 }, () => unread(served, `${job}/events`)),
    )
    await until(async () => (await ask()) === 503)
    // Who comes later hears of no event until there is memory, but is not refused.
    const late = await served.get(`${job}/events`)
    const reader = (late.body as ReadableStream<Uint8Array>).getReader()
    expect(late.status).toBe(200)
    for (const socket of sockets) socket.destroy()
    await until(async () => (await ask()) === 200)
    let text = ''
    while (!text.includes('event: partial'))
      text += Buffer.from((await reader.read()).value ?? []).toString()
    await reader.cancel()
  })
})

describe.skipIf(!isBuiltin('node:sqlite'))('events of jobs', () => {
  it('are read once for all who want the same, and not again while they are read', async () => {
    const store = await openStore({ kind: 'sqlite', path: join(folder(), 'jobs.db') })
    onTestFinished(() => store.close())
    const job = newJob()
    await store.add(job, 10)
    const reads = vi.spyOn(store, 'events')
    const log = { debug: () => {}, warn: () => {} }
    const jobs = new Jobs(store, { apis: new Map(), auth: undefined }, undefined, false, log)
    const visit = visitOf('/')
    const ask = () => jobs.events(job.id, 0, visit.account())
    const all = await Promise.all(Array.from({ length: 50 }, ask))
    expect(reads).toHaveBeenCalledTimes(1)
    expect(new Set(all).size).toBe(1)
    expect((await ask())?.map(({ data }) => data)).toEqual(['queued'])
    expect(reads).toHaveBeenCalledTimes(2)
  })
})

describe.skipIf(!isBuiltin('node:sqlite'))('attempts at jobs', () => {
  it('wait for the memory of their inputs, and hold it while they run', async () => {
    const gates: ReturnType<typeof deferred<void>>[] = []
    const define = (svc: Service) =>
      svc.api(
        { input: new io.Text(), output: new io.JSON(), name: 'size', async: { concurrency: 3 } },
        async (text: string) => {
          const gate = deferred<void>()
          gates.push(gate)
          await gate.promise
          return text.length
        },
      )
    const served = await start('node', define, { maxMemoryBytes: 5 * mb })
    for (let i = 0; i < 3; i++) await served.submit('/size', 'small')
    await until(() => gates.length === 3)
    const jobs: string[] = []
    for (let i = 0; i < 3; i++) jobs.push(await served.submit('/size', 'x'.repeat(2 * mb)))
    for (const gate of gates.splice(0)) gate.resolve()
    await until(() => gates.length === 2)
    await until(async () =>
      (await Promise.all(jobs.map(served.status))).every(({ status }) => status === 'running'),
    )
    const refused = await served.post('/size', 'x'.repeat(2 * mb))
    expect([refused.status, gates.length]).toEqual([503, 2])
    gates.shift()?.resolve()
    await until(() => gates.length === 2)
    for (const gate of gates.splice(0)) gate.resolve()
    for (const job of jobs) {
      expect(await (await served.result(job)).json()).toBe(2 * mb)
      expect(await served.status(job)).toMatchObject({ attempt: 1 })
    }
    // None is held any more.
    const last = await served.submit('/size', 'x'.repeat(4 * mb))
    await until(() => gates.length === 1)
    gates[0]?.resolve()
    expect((await served.result(last)).status).toBe(200)
  })

  it('that wait for memory are canceled, and end at their timeout', async () => {
    const [filler, gate] = [deferred<number>(), deferred<number>()]
    const text = { input: new io.Text(), output: new io.JSON() }
    const run = (value: string) => (value === 'first' ? gate.promise : value.length)
    const define = (svc: Service) => {
      svc.api({ ...text, name: 'filler' }, () => filler.promise)
      svc.api({ ...text, name: 'late', async: { retries: 0, timeout: 2_000, concurrency: 1 } }, run)
      svc.api({ ...text, name: 'canceled', async: { concurrency: 1 } }, run)
    }
    const served = await start('node', define, { maxMemoryBytes: 5 * mb })
    for (const path of ['/late', '/canceled']) await served.submit(path, 'first')
    const late = await served.submit('/late', 'x'.repeat(2 * mb))
    const canceled = await served.submit('/canceled', 'x'.repeat(2 * mb))
    const held = served.post('/filler', 'x'.repeat(4 * mb))
    await until(async () => (await served.post('/filler', 'x'.repeat(2 * mb))).status === 503)
    gate.resolve(1)
    await until(async () => (await served.status(canceled)).status === 'running')
    await served.post(`${canceled}/cancel`)
    expect((await served.result(canceled)).status).toBe(409)
    expect((await served.result(late)).status).toBe(504)
    filler.resolve(1)
    expect((await held).status).toBe(200)
    const again = (await served.post(`${late}/retry`)).headers.get('location') as string
    expect(await (await served.result(again)).json()).toBe(2 * mb)
  })

  it('hold memory for large answers', async () => {
    const served = await start('node', bulk, { maxMemoryBytes: 4 * mb })
    const jobs = await Promise.all(
      Array.from({ length: 4 }, () => served.submit('/bulk', String(3 * mb))),
    )
    for (const job of jobs) {
      expect((await bytesOf(await served.result(job))).length).toBe(3 * mb)
      expect(await served.status(job)).toMatchObject({ attempt: 1 })
    }
  })
})
