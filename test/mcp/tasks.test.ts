/** Calls of asynchronous APIs as tasks, by the client of the extension. */
import { createHash } from 'node:crypto'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import {
  createTaskSessionFromClient,
  resultFromTaskOutcome,
} from '@modelcontextprotocol/ext-tasks/client'
import { BadInput, io, type ServeOptions, Service } from 'serving'
import { apiKey } from 'serving/auth'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { latest } from '../../src/protocols/mcp/messages.ts'
import { folder } from '../jobs/harness.ts'
import { meta, open } from './harness.ts'

interface Request {
  readonly id: number
  readonly method: string
  readonly params: Readonly<Record<string, unknown>>
}

const json = { input: new io.JSON(), output: new io.JSON() }
const keyOf = (name: string) => ({ name, hash: createHash('sha256').update(name).digest('hex') })
const ann = { 'x-api-key': 'ann' }
const bob = { 'x-api-key': 'bob' }

function service(file: string): Service {
  const auth = apiKey({ keys: [keyOf('ann'), keyOf('bob')] })
  const svc = new Service('tasks', { mcp: true, auth, jobs: { store: `sqlite:${file}` } })
  const output = new io.JSON({ schema: z.object({ twice: z.number() }) })
  svc.api(
    { input: new io.JSON({ schema: z.object({ n: z.number() }) }), output, async: { retries: 0 } },
    async function twice({ n }, ctx) {
      await ctx.job?.progress({ at: n })
      if (n < 0) throw new BadInput('expected more')
      return { twice: 2 * n }
    },
  )
  svc.api({ ...json, name: 'plain' }, (value) => value)
  svc.api(
    { ...json, name: 'hang', async: true },
    (_, ctx) =>
      new Promise<null>((_resolve, reject) => {
        ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason))
      }),
  )
  svc.api(
    {
      input: new io.JSON(),
      output: new io.File({ mimeType: 'audio/wav' }),
      name: 'sound',
      async: true,
    },
    (size) => Buffer.alloc(Number(size), 7),
  )
  return svc
}

describe.skipIf(!isBuiltin('node:sqlite'))('tasks', () => {
  const begin = (options: ServeOptions = {}, file = join(folder(), 'jobs.db')) =>
    open(service(file), options)

  it('are calls of asynchronous APIs', async () => {
    const { client, post } = await begin()
    const session = createTaskSessionFromClient(await client(ann), {
      endpointId: 'test',
      // The SDK's own client sends no requests of extensions.
      rawDispatch: async (request) => {
        const { id, method, params } = request as unknown as Request
        return { ...(await post(method, params, ann)).value, id }
      },
      v2RequestFraming: {
        protocolVersion: latest,
        clientInfo: { name: 'test', version: '1' },
        clientCapabilities: { extensions: { 'io.modelcontextprotocol/tasks': {} } },
      },
    })
    const settled = async (name: string, args: object) => {
      const execution = await session.callTool(name, { ...args })
      return resultFromTaskOutcome((await execution.settle()).outcome)
    }
    expect(await settled('twice', { n: 4 })).toMatchObject({ structuredContent: { twice: 8 } })
    expect(await settled('twice', { n: -1 })).toMatchObject({ isError: true })
    expect(await settled('plain', { input: 1 })).toMatchObject({ content: [{ text: '1' }] })
    const refused = await settled('twice', { n: 'x' })
    expect(refused).toMatchObject({ isError: true })
    await session.close()
  })

  it('are there for a client that says so alone', async () => {
    const { post, client } = await begin()
    const agent = await client(ann)
    expect(await agent.callTool({ name: 'twice', arguments: { n: 4 } })).toMatchObject({
      structuredContent: { twice: 8 },
    })
    const _meta = { ...meta, 'io.modelcontextprotocol/clientCapabilities': {} }
    expect(await post('tasks/get', { taskId: 'x', _meta }, ann)).toMatchObject({
      status: 400,
      value: { error: { code: -32021, data: { requiredCapabilities: { extensions: {} } } } },
    })
    expect((await post('server/discover', {}, ann)).value.result.capabilities).toEqual({
      tools: {},
      resources: {},
      extensions: { 'io.modelcontextprotocol/tasks': {} },
    })
  })

  it('belong to their caller', async () => {
    const { post } = await begin()
    const call = { name: 'twice', arguments: { n: 4 } }
    const { value } = await post('tools/call', call, ann)
    const { taskId, resultType, status } = value.result
    expect([resultType, status]).toEqual(['task', 'working'])
    const get = async (headers: Record<string, string>) =>
      (await post('tasks/get', { taskId }, headers)).value
    await expect.poll(async () => (await get(ann)).result.status).toBe('completed')
    expect((await get(ann)).result).toMatchObject({
      resultType: 'complete',
      statusMessage: '{"at":4}',
      ttlMs: expect.any(Number),
      result: { structuredContent: { twice: 8 } },
    })
    expect((await get(bob)).error).toMatchObject({ code: -32602 })
    expect((await get({})).error).toBeDefined()
    for (const method of ['tasks/cancel', 'tasks/update']) {
      expect((await post(method, { taskId }, bob)).value.error).toMatchObject({ code: -32602 })
      expect((await post(method, { taskId }, ann)).value.result).toMatchObject({
        resultType: 'complete',
      })
    }
    expect((await get(ann)).result.status).toBe('completed')
    expect((await post('tools/call', call)).status).toBe(401)
  })

  it('end when they are cancelled', async () => {
    const { post } = await begin()
    const { value } = await post('tools/call', { name: 'hang', arguments: { input: 1 } }, ann)
    const { taskId } = value.result
    expect((await post('tasks/cancel', { taskId }, ann)).value.result).toMatchObject({
      resultType: 'complete',
    })
    await expect
      .poll(async () => (await post('tasks/get', { taskId }, ann)).value.result.status)
      .toBe('cancelled')
  })

  it('have a large answer behind a link, which only their caller reads', async () => {
    const { post } = await begin()
    const answerOf = async (input: number) => {
      const { value } = await post('tools/call', { name: 'sound', arguments: { input } }, ann)
      const { taskId } = value.result
      const get = async () => (await post('tasks/get', { taskId }, ann)).value.result
      await expect.poll(async () => (await get()).status).toBe('completed')
      return (await get()).result.content[0]
    }
    expect(await answerOf(3)).toEqual({ type: 'audio', mimeType: 'audio/wav', data: 'BwcH' })
    const size = 2 ** 21
    const { uri, ...link } = await answerOf(size)
    expect(link).toEqual({ type: 'resource_link', name: 'sound', mimeType: 'audio/wav', size })
    const { value } = await post('resources/read', { uri }, ann)
    const [{ blob, mimeType }] = value.result.contents
    const isRight = Buffer.from(blob, 'base64').equals(Buffer.alloc(size, 7))
    expect([mimeType, isRight]).toEqual(['audio/wav', true])
    expect((await post('resources/read', { uri }, bob)).value.error).toBeDefined()
    expect((await post('resources/read', { uri })).value.error).toBeDefined()
  })

  it('outlive their server', async () => {
    const file = join(folder(), 'jobs.db')
    const first = await begin({ jobRole: 'submit' }, file)
    const { value } = await first.post('tools/call', { name: 'twice', arguments: { n: 21 } }, ann)
    const { taskId } = value.result
    expect((await first.post('tasks/get', { taskId }, ann)).value.result.status).toBe('working')
    await first.listener.close()
    const { post } = await begin({}, file)
    const get = async () => (await post('tasks/get', { taskId }, ann)).value.result
    await expect.poll(async () => (await get()).status).toBe('completed')
    expect((await get()).result).toMatchObject({ structuredContent: { twice: 42 } })
  })
})
