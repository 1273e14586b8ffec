import { createHash } from 'node:crypto'
import { isBuiltin } from 'node:module'
import { createClient } from 'serving/client'
import { describe, expect, it, onTestFinished } from 'vitest'
import { apiKey } from '../../src/api/auth/index.ts'
import { io, type Service } from '../../src/index.ts'
import {
  jobListMessage,
  jobMessage,
  jobRequest,
  listJobsRequest,
} from '../../src/jobs/job-messages.ts'
import { bothEngines } from '../engines.ts'
import { GrpcClient } from '../rpc/harness.ts'
import { jsonOf, start } from './harness.ts'

const json = { input: new io.JSON(), output: new io.JSON(), async: { retries: 0 } }
const keyOf = (name: string) => ({
  name,
  hash: createHash('sha256').update(`${name}-key`).digest('hex'),
})
const as = (name: string) => ({ 'x-api-key': `${name}-key` })
const auth = apiKey({ keys: [keyOf('ann'), keyOf('bob')] })

/** `own` has an auth that calls somebody else `ann`. */
function define(svc: Service) {
  const echo = svc.api({ ...json, name: 'echo' }, (value: unknown) => value)
  svc.api({ ...json, name: 'other' }, () => {
    throw new Error('fails')
  })
  const keys = [{ ...keyOf('eve'), name: 'ann' }]
  svc.api({ ...json, name: 'own', auth: apiKey({ keys }) }, (value: unknown) => value)
  return { echo }
}

interface Page {
  readonly jobs: readonly { readonly id: string; readonly api: string }[]
  readonly next?: string
}

const idOf = (place: string) => place.split('/').at(-1)

describe.skipIf(!isBuiltin('node:sqlite')).each(bothEngines)('lists of jobs on %s', (engine) => {
  it('have the jobs of the caller alone, by API, status and time', async () => {
    const { submit, get, result } = await start(engine, (svc) => void define(svc), {}, { auth })
    const list = async (query: string, name = 'ann') => {
      const answer = await get(`/jobs${query}`, as(name))
      expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store'])
      return (await answer.json()) as Page
    }
    const ids = async (query: string, name?: string) =>
      (await list(query, name)).jobs.map(({ id }) => id)
    const first = await submit('/echo', 1, as('ann'))
    const second = await submit('/other', 2, as('ann'))
    const third = await submit('/echo', 3, as('bob'))
    const fourth = await submit('/own', 4, as('eve'))
    for (const [job, name] of [
      [first, 'ann'],
      [second, 'ann'],
      [third, 'bob'],
      [fourth, 'eve'],
    ])
      await get(`${job}/result`, { ...as(name), prefer: 'wait=20' })
    const [one, two] = [idOf(first), idOf(second)]
    expect(await ids('')).toEqual([two, one])
    expect(await ids('', 'bob')).toEqual([idOf(third)])
    expect(await ids('?api=echo')).toEqual([one])
    expect(await ids('?status=failed')).toEqual([two])
    expect(await ids('?api=own', 'eve')).toEqual([idOf(fourth)])
    // The latest one is of another ann.
    const { jobs, next } = await list('?limit=2')
    expect(jobs).toMatchObject([{ id: two, api: 'other', status: 'failed', responseStatus: 500 }])
    expect(await ids(`?limit=2&after=${next}`)).toEqual([one])
    const created = (jobs as unknown as readonly { createdAt: string }[])[0].createdAt
    expect(await ids(`?since=${created}`)).toContain(two)
    expect(await ids(`?until=${created}`)).not.toContain(two)
    expect((await result(first)).status).toBe(401)
  })

  it('refuse callers whom nobody names, and what they do not know', async () => {
    const open = await start(engine, (svc) => void define(svc))
    await open.submit('/echo', 1)
    const refused = await open.get('/jobs')
    expect([refused.status, (await jsonOf(refused)).detail]).toEqual([
      401,
      'expected a caller whom auth names, since lists have jobs of one alone',
    ])
    const { get } = await start(engine, (svc) => void define(svc), {}, { auth })
    expect((await get('/jobs')).status).toBe(401)
    expect((await get('/jobs?api=own', as('ann'))).status).toBe(401)
    const wrong = async (query: string) => {
      const answer = await get(`/jobs?${query}`, as('ann'))
      return [answer.status, (await jsonOf(answer)).detail]
    }
    expect(await wrong('status=done')).toEqual([400, expect.stringContaining('one of queued,')])
    expect(await wrong('since=yesterday')).toEqual([400, expect.stringContaining('ISO 8601')])
    expect(await wrong('limit=1000')).toEqual([400, expect.stringContaining('1 to 100')])
    expect(await wrong('limit=x')).toEqual([400, expect.stringContaining('1 to 100')])
    expect(await wrong('owner=bob')).toEqual([400, expect.stringContaining('"owner"')])
    for (const after of ['x', '-1', '1e9', '1.', '1.2', "1 OR 'a'", `1.${'a'.repeat(23)}`]) {
      const query = `after=${encodeURIComponent(after)}`
      expect(await wrong(query)).toEqual([400, expect.stringContaining('next of a page')])
    }
    expect(await wrong('issuer=https://a')).toEqual([400, expect.stringContaining('caller')])
    expect(await wrong('api=nothing')).toEqual([404, expect.stringContaining('nothing')])
  })

  it('let a caller delete what an ended job holds', async () => {
    const { submit, get, base } = await start(engine, (svc) => void define(svc), {}, { auth })
    const remove = (job: string, name: string) =>
      fetch(base + job, { method: 'DELETE', headers: as(name) })
    const job = await submit('/echo', { secret: 1 }, as('ann'))
    await get(`${job}/result`, { ...as('ann'), prefer: 'wait=20' })
    expect((await remove(job, 'bob')).status).toBe(404)
    expect(await jsonOf(await remove(job, 'ann'))).toMatchObject({ status: 'expired' })
    expect((await get(`${job}/result`, as('ann'))).status).toBe(410)
    expect((await remove(job, 'ann')).status).toBe(200)
  })

  it('keep a job that has not ended from being deleted', async () => {
    const { submit, base, listener } = await start(
      engine,
      (svc) => void define(svc),
      { jobRole: 'submit' },
      { auth },
    )
    const job = await submit('/echo', 1, as('ann'))
    const answer = await fetch(base + job, { method: 'DELETE', headers: as('ann') })
    expect([answer.status, (await jsonOf(answer)).detail]).toEqual([
      409,
      'expected a job that has ended, this one is queued',
    ])
    await listener.close()
  })
})

describe.skipIf(!isBuiltin('node:sqlite'))('lists of jobs over other protocols', () => {
  it('are there by gRPC and Connect', async () => {
    const served = await start('node', (svc) => void define(svc), { grpcPort: 0 }, { auth })
    const { submit, get, post } = served
    const ids: (string | undefined)[] = []
    for (const value of [1, 2, 3]) {
      const job = await submit('/echo', value, as('ann'))
      await get(`${job}/result`, { ...as('ann'), prefer: 'wait=20' })
      ids.unshift(idOf(job))
    }
    const grpc = new GrpcClient(served.listener.grpcPort as number)
    onTestFinished(() => grpc.close())
    const call = async (method: string, bytes: Uint8Array) => {
      const { bytes: answer, error } = await grpc.raw(bytes, { metadata: as('ann') }, method)
      if (error !== undefined) throw error
      return answer as Buffer
    }
    const list = async (request: Parameters<typeof listJobsRequest.encode>[0]) =>
      jobListMessage.decode(await call('ListJobs', listJobsRequest.encode(request)))
    const page = await list({ apiName: 'echo', status: 'completed', limit: 2 })
    expect(page.jobs?.map(({ id }) => id)).toEqual(ids.slice(0, 2))
    expect(page.jobs?.[0]).toMatchObject({ apiName: 'echo', responseStatus: 200 })
    const rest = await list({ limit: 2, after: page.next })
    expect(rest.jobs?.map(({ id }) => id)).toEqual(ids.slice(2))
    await expect(list({ status: 'done' })).rejects.toThrow('one of queued')

    const id = ids[0] as string
    const deleted = await call('DeleteJob', jobRequest.encode({ id }))
    expect(jobMessage.decode(deleted)).toMatchObject({ id, status: 'expired' })
    const connect = async (method: string, body: unknown) =>
      jsonOf(await post(`/serving.v1.ServingService/${method}`, body, as('ann')))
    expect(await connect('ListJobs', { status: 'expired' })).toMatchObject({
      jobs: [{ id, apiName: 'echo', status: 'expired' }],
    })
    expect(await connect('DeleteJob', { id: ids[1] })).toMatchObject({ status: 'expired' })
  })

  it('are iterated by the typed client over all pages', async () => {
    const { base, submit } = await start('node', (svc) => void define(svc), {}, { auth })
    const client = createClient<ReturnType<typeof define>>(base, { apiKey: 'ann-key' })
    const since = new Date()
    const ids = await Promise.all(
      Array.from({ length: 105 }, async (_, i) => (await client.echo.submit(i)).id),
    )
    await submit('/other', 1, as('ann'))
    const found: string[] = []
    for await (const { id, api } of client.echo.jobs({ since })) {
      expect(api).toBe('echo')
      found.push(id)
    }
    expect(found.sort()).toEqual(ids.sort())
    const job = client.echo.job(ids[0])
    await job.result()
    expect(await job.delete()).toMatchObject({ id: ids[0], status: 'expired' })
    await expect(job.result()).rejects.toMatchObject({ code: 'gone' })
    const expired: string[] = []
    for await (const { id } of client.echo.jobs({ status: 'expired' })) expired.push(id)
    expect(expired).toEqual([ids[0]])
  })
})
