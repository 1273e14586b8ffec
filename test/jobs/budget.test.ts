/** What jobs take of a server beside the request that submits them: their memory and slots. */

import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { deferred } from '../../src/core/promise.ts'
import { io, type Service } from '../../src/index.ts'
import { getJobRequest, jobMessage } from '../../src/jobs/job-messages.ts'
import { Jobs } from '../../src/jobs/jobs.ts'
import { decodeResponse, encodeRequest } from '../../src/messages/envelope.ts'
import { bothEngines } from '../engines.ts'
import { GrpcClient } from '../rpc/harness.ts'
import { visitOf } from '../visit.ts'
import { bulk, bulkOf, mb } from './bulk.ts'
import { folder, jsonOf, type Served, start } from './harness.ts'
import { completed, newJob, openStore, until } from './stores.ts'

const json = { input: new io.JSON(), output: new io.JSON() }
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
