/** What agents see of an API: titles, hints, nothing at all; resources, prompts, and results of several parts. */
import { createHash } from 'node:crypto'
import { BadInput, io, NotFound, Service } from 'serving'
import { apiKey } from 'serving/auth'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { latest } from '../../src/protocols/mcp/messages.ts'
import { open } from './harness.ts'

const json = { input: new io.JSON(), output: new io.JSON() }
const text = { input: new io.Text(), output: new io.Text() }
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
const keyed = (key: string) => apiKey({ keys: [createHash('sha256').update(key).digest('hex')] })

function service(): Service {
  const svc = new Service('shop', { mcp: true })
  svc.api(
    { ...json, name: 'stock', mcp: { title: 'Stock', annotations: { readOnlyHint: true } } },
    () => 7,
  )
  svc.api({ ...json, name: 'hidden', mcp: false }, () => 'a secret')
  svc.api(
    {
      input: new io.JSON({
        schema: z.object({ topic: z.string().describe('Of what.'), tone: z.string().optional() }),
      }),
      output: new io.Text(),
      doc: 'Asks for a poem.',
      mcp: { prompt: true, title: 'Poem' },
    },
    function poem({ topic }) {
      if (topic === '') throw new BadInput('expected a topic')
      return `Write a poem on ${topic}.`
    },
  )
  const parts = {
    note: new io.Text(),
    image: new io.File({ mimeType: 'image/png' }),
    data: new io.JSON(),
    rest: new io.File(),
  }
  svc.api({ input: new io.JSON(), output: new io.Multipart(parts) }, function several() {
    return { note: 'here', image: png, data: { n: 1 }, rest: Buffer.of(1, 2) }
  })
  svc.get(
    '/labels',
    { output: new io.JSON(), doc: 'All labels.', mcp: { title: 'Labels' } },
    () => ['a', 'b'],
  )
  svc.get(
    '/picture',
    { output: new io.File({ mimeType: 'image/png' }), mcp: { uri: 'test://picture' } },
    () => png,
  )
  const query = z.object({ full: z.string().optional() })
  svc.get('/items/{id}/data', { query, output: new io.JSON() }, ({ full }, ctx) => {
    if (ctx.params.id === 'none') throw new NotFound('there is no such item')
    return { id: ctx.params.id, full, path: ctx.path, method: ctx.method }
  })
  svc.get('/own', { output: new io.Text(), auth: keyed('own') }, () => 'mine')
  svc.get('/unseen', { output: new io.Text(), mcp: false }, () => 'a secret')
  svc.api({ ...text, name: 'same' }, (value) => value)
  return svc
}

describe.each([latest, '2025-11-25'])('agents that speak %s', (version) => {
  const begin = async (headers = {}) => {
    const { client } = await open(service())
    return client(headers, version)
  }

  it('see titles and hints, and no API that is hidden', async () => {
    const agent = await begin()
    const { tools } = await agent.listTools()
    expect(tools.map(({ name }) => name)).toEqual(['stock', 'several', 'same'])
    expect(tools[0]).toMatchObject({ title: 'Stock', annotations: { readOnlyHint: true } })
    await expect(agent.callTool({ name: 'hidden', arguments: {} })).rejects.toThrow('unknown tool')
    await expect(agent.callTool({ name: 'poem', arguments: {} })).rejects.toThrow('unknown tool')
  })

  it('get each part of a form as it is', async () => {
    const agent = await begin()
    const { content } = await agent.callTool({ name: 'several', arguments: { input: 0 } })
    expect(content).toEqual([
      { type: 'text', text: 'here' },
      { type: 'image', mimeType: 'image/png', data: png.toString('base64') },
      { type: 'text', text: '{"n":1}' },
      {
        type: 'resource',
        resource: { uri: 'serving:rest', mimeType: 'application/octet-stream', blob: 'AQI=' },
      },
    ])
  })

  it('get prompts', async () => {
    const agent = await begin()
    expect((await agent.listPrompts()).prompts).toEqual([
      {
        name: 'poem',
        title: 'Poem',
        description: 'Asks for a poem.',
        arguments: [
          { name: 'topic', description: 'Of what.', required: true },
          { name: 'tone', required: false },
        ],
      },
    ])
    expect(await agent.getPrompt({ name: 'poem', arguments: { topic: 'tea' } })).toMatchObject({
      description: 'Asks for a poem.',
      messages: [{ role: 'user', content: { type: 'text', text: 'Write a poem on tea.' } }],
    })
    await expect(agent.getPrompt({ name: 'poem', arguments: { topic: '' } })).rejects.toThrow(
      'expected a topic',
    )
    await expect(agent.getPrompt({ name: 'stock' })).rejects.toThrow('the name of a prompt')
  })

  it('read GET APIs as resources', async () => {
    const agent = await begin()
    const { resources } = await agent.listResources()
    expect(resources).toEqual([
      {
        uri: 'serving://shop/labels',
        name: 'labels',
        title: 'Labels',
        description: 'All labels.',
        mimeType: 'application/json',
      },
      { uri: 'test://picture', name: 'picture', mimeType: 'image/png' },
    ])
    const { resourceTemplates } = await agent.listResourceTemplates()
    expect(resourceTemplates).toEqual([
      {
        uriTemplate: 'serving://shop/items/{id}/data{?full}',
        name: 'items_id_data',
        mimeType: 'application/json',
      },
    ])
    const read = async (uri: string) => (await agent.readResource({ uri })).contents
    expect(await read('serving://shop/labels')).toEqual([
      { uri: 'serving://shop/labels', mimeType: 'application/json', text: '["a","b"]' },
    ])
    expect(await read('test://picture')).toMatchObject([
      { mimeType: 'image/png', blob: png.toString('base64') },
    ])
    const [item] = await read('serving://shop/items/a%2Fb%20c/data?full=yes')
    expect(JSON.parse((item as { text: string }).text)).toEqual({
      id: 'a/b c',
      full: 'yes',
      path: '/items/a%2Fb%20c/data',
      method: 'GET',
    })
    for (const uri of [
      'serving://shop/unseen',
      'serving://shop/items/a/b/data',
      'file:///etc/passwd',
      `serving://shop/${'x'.repeat(9000)}`,
    ])
      await expect(agent.readResource({ uri })).rejects.toThrow()
    const code = version === latest ? -32602 : -32002
    await expect(
      agent.readResource({ uri: 'serving://shop/items/none/data' }),
    ).rejects.toMatchObject({ code })
    await expect(
      agent.readResource({ uri: 'serving://shop/items/%ff/data' }),
    ).rejects.toMatchObject({ code: -32602 })
  })

  it('read what their credentials admit alone', async () => {
    const agent = await begin({ 'x-api-key': 'own' })
    expect((await agent.listResources()).resources.map(({ name }) => name)).toContain('own')
    expect((await agent.readResource({ uri: 'serving://shop/own' })).contents).toMatchObject([
      { text: 'mine' },
    ])
    const other = await begin()
    await expect(other.readResource({ uri: 'serving://shop/own' })).rejects.toThrow()
  })
})

it('refuses wrong options', () => {
  const api = (mcp: object) => () => new Service('wrong').api({ ...json, name: 'x', mcp }, () => 1)
  expect(api({ titel: 'x' })).toThrow('mcp of x')
  expect(api({ annotations: { readOnly: true } })).toThrow('annotations of mcp of x')
  expect(api({ uri: 'no uri' })).toThrow('uri of mcp of x')
})

it('refuses a URI without the parameters of its route', async () => {
  const svc = new Service('wrong', { mcp: true })
  svc.get('/items/{id}', { output: new io.JSON(), mcp: { uri: 'test://items' } }, () => 1)
  await expect(open(svc)).rejects.toThrow('a URI with the parameters of items/{id}')
})
