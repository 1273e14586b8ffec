/** Version 2026-07-28: no session, and requests that say what they are. */
import { once } from 'node:events'
import { io, Service } from 'serving'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { latest, versions } from '../../src/protocols/mcp/messages.ts'
import { bothEngines } from '../engines.ts'
import { meta, open } from './harness.ts'

const json = { input: new io.JSON(), output: new io.JSON() }

function service(ended: string[] = []): Service {
  const svc = new Service('latest', { mcp: true, doc: 'A doc.', version: '1.2.3' })
  const Sum = z.object({ a: z.number(), b: z.number() })
  svc.api(
    {
      input: new io.JSON({ schema: Sum }),
      output: new io.JSON({ schema: z.object({ sum: z.number() }) }),
    },
    function add({ a, b }) {
      return { sum: a + b }
    },
  )
  svc.api({ ...json, name: 'wait' }, async (_, ctx) => {
    await once(ctx.signal, 'abort')
    ended.push((ctx.signal.reason as Error).name)
    return null
  })
  return svc
}

describe.each(bothEngines)('MCP 2026-07-28 on %s', (engine) => {
  it('is spoken at the address of the versions before it', async () => {
    const { client } = await open(service(), { engine })
    for (const version of [latest, '2025-11-25']) {
      const agent = await client({}, version)
      expect(agent.getNegotiatedProtocolVersion()).toBe(version)
      expect(agent.getServerVersion()).toMatchObject({ name: 'latest', version: '1.2.3' })
      expect(agent.getInstructions()).toBe('A doc.')
      expect((await agent.listTools()).tools.map(({ name }) => name)).toEqual(['add', 'wait'])
      expect(await agent.callTool({ name: 'add', arguments: { a: 1, b: 2 } })).toMatchObject({
        content: [{ type: 'text', text: '{"sum":3}' }],
        structuredContent: { sum: 3 },
      })
      expect(await agent.callTool({ name: 'add', arguments: { a: 'x' } })).toMatchObject({
        isError: true,
      })
    }
  })

  it('ends a call whose client has left', async () => {
    const ended: string[] = []
    const { client } = await open(service(ended), { engine })
    const abort = new AbortController()
    const agent = await client()
    const call = agent.callTool({ name: 'wait', arguments: { input: 1 } }, { signal: abort.signal })
    setTimeout(() => abort.abort(), 100)
    await expect(call).rejects.toThrow()
    await expect.poll(() => ended).toEqual(['ClientClosed'])
  })

  it('tells what it is in every result, and how long lists may be kept', async () => {
    const { post } = await open(service(), { engine })
    const _meta = { 'io.modelcontextprotocol/serverInfo': { name: 'latest', version: '1.2.3' } }
    const cached = { ttlMs: expect.any(Number), cacheScope: 'private' }
    expect(await post('server/discover')).toMatchObject({
      status: 200,
      value: {
        id: 1,
        result: {
          resultType: 'complete',
          supportedVersions: versions,
          capabilities: { tools: {} },
          _meta,
          ...cached,
        },
      },
    })
    for (const method of [
      'tools/list',
      'resources/list',
      'resources/templates/list',
      'prompts/list',
    ])
      expect((await post(method)).value.result).toMatchObject({
        resultType: 'complete',
        _meta,
        ...cached,
      })
  })

  it('refuses what its headers do not repeat, and what they lack', async () => {
    const { post } = await open(service(), { engine })
    const call = { name: 'add', arguments: { a: 1, b: 2 } }
    const of = async (headers: Record<string, string>, params: Record<string, unknown> = call) => {
      const { status, value } = await post('tools/call', params, headers)
      return [status, value.id, value.error?.code]
    }
    expect(await of({})).toEqual([200, 1, undefined])
    expect(await of({ 'mcp-name': '=?base64?YWRk?=' })).toEqual([200, 1, undefined])
    for (const headers of [
      { 'mcp-name': 'wait' },
      { 'mcp-name': '' },
      { 'mcp-name': '=?base64?d2FpdA==?=' },
      { 'mcp-method': 'tools/list' },
      { 'mcp-method': '' },
    ] as Record<string, string>[])
      expect([headers, await of(headers)]).toEqual([headers, [400, 1, -32020]])
    const other = { ...meta, 'io.modelcontextprotocol/protocolVersion': '2025-11-25' }
    expect(await of({}, { ...call, _meta: other })).toEqual([400, 1, -32020])
    expect(await of({}, { ...call, _meta: {} })).toEqual([400, 1, -32602])
    const { 'io.modelcontextprotocol/clientCapabilities': _, ...rest } = meta
    expect(await of({}, { ...call, _meta: rest })).toEqual([400, 1, -32602])
  })

  it('names its versions to a client of another, and has no methods but its own', async () => {
    const { post } = await open(service(), { engine })
    expect(await post('tools/list', {}, { 'mcp-protocol-version': '1999-01-01' })).toMatchObject({
      status: 400,
      value: {
        id: 1,
        error: { code: -32022, data: { supported: versions, requested: '1999-01-01' } },
      },
    })
    for (const method of [
      'initialize',
      'ping',
      'logging/setLevel',
      'subscriptions/listen',
      'completion/complete',
      'tasks/get',
      '__proto__',
    ])
      expect(await post(method)).toMatchObject({
        status: 404,
        value: { id: 1, error: { code: -32601 } },
      })
  })
})
