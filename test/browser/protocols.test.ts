/** Paths on the page that are no APIs: of OpenAI with a chat, of protocols, of MCP, of mounted handlers. */
import { io, type Protocol, Runner, Service } from 'serving'
import { openai } from 'serving/openai'
import { beforeEach, describe, expect, it } from 'vitest'
import { problemResponse } from '../../src/http/problem.ts'
import { violationsOf } from './axe.ts'
import { chromium, servePage } from './browser.ts'

const items = { get: { summary: 'All items.', responses: {} } }
const openapi = { openapi: '3.1.0', paths: { '/app/items': items } }
/** Of others, without an operation. */
const shouts: Protocol = {
  name: 'shouts',
  attach(host) {
    const read = { path: '/shout/{word}', methods: ['GET', 'POST'], readsHeaders: [] }
    host.http({
      ...read,
      name: 'shout',
      access: { kind: 'service' },
      origins: 'any',
      isLimited: true,
      decompresses: false,
      answer: (_, { ctx }) => ({
        headers: [['content-type', 'text/plain']],
        body: String(ctx.params.word).toUpperCase(),
      }),
      problem: problemResponse,
    })
  },
}
const module = new URL('../../examples/openai/model.ts', import.meta.url)
const vectors = new Runner<typeof import('../../examples/openai/model.ts')>('vectors', {
  module,
  methods: { embed: {} },
})
const tiny = new Runner<typeof import('../../examples/openai/model.ts')>('tiny', {
  module,
  methods: { chat: { stream: true }, generate: { stream: true } },
})
const svc = new Service('all', {
  protocols: [openai({ models: { vectors, tiny } }), shouts],
  mcp: true,
  openapi: { include: ['health', 'oip'] },
})
svc.mount('/app', () => new Response('from the mount'), { openapi })
svc.mount('/notes', async (request) => {
  const { pathname, search } = new URL(request.url)
  return new Response(`${request.method} ${pathname}${search} ${await request.text()}`)
})
svc.api({ input: new io.Text(), output: new io.Text(), name: 'plain' }, (text) => text)

describe.skipIf(chromium === undefined)('protocols and mounts in Chromium (needs chromium)', () => {
  const on = servePage(svc, '/api')
  let faults: string[]
  beforeEach(() => {
    ;({ faults } = on)
  })

  it('are listed by what they belong to, and answer', async () => {
    await on.open('plain')
    expect(await on.texts('nav ul[aria-label=OpenAI] a')).toContain('POST /v1/chat/completions')
    expect(await on.texts('nav ul[aria-label=health] a')).toContain('GET /readyz')
    expect(
      (await on.texts('nav ul[aria-label="Open Inference Protocol"] a')).length,
    ).toBeGreaterThan(3)
    await on.open('GET /app/items')
    expect((await on.send()).text).toContain('from the mount')
    await on.open('readyz')
    expect((await on.send()).status).toBe('200')
    expect(faults).toEqual([])
  })

  it('are asked with any method and path, where a handler has no document', async () => {
    await on.open('ANY /notes/*')
    expect(await on.textOf('.route')).toBe('ANY /api/notes/*')
    expect(await on.texts('nav ul[aria-label="Mounted handlers"] a')).toEqual(['ANY /notes/*'])
    const [path] = await on.page.$$('form .member > input')
    await path.evaluate((each) => {
      each.value = '/notes/a b?c=1'
      each.dispatchEvent(new Event('input', { bubbles: true }))
    })
    expect((await on.send()).text).toContain('GET /api/notes/a%20b?c=1')
    await on.page.select('form select', '2')
    await on.type('textarea', '{"text": "milk"}')
    expect((await on.send()).text).toContain('PUT /api/notes/a%20b?c=1 {"text": "milk"}')
    expect(await on.textOf('.code-panel pre')).toContain('-X PUT')
    expect(faults).toEqual([])
  })

  it('list what has no operation: MCP, and a protocol of others', async () => {
    await on.open('POST /mcp')
    expect((await on.send()).text).toContain('"name": "plain"')
    expect(await on.texts('nav ul[aria-label=shouts] a')).toEqual([
      'GET /shout/{word}',
      'POST /shout/{word}',
    ])
    await on.open('GET /shout/{word}')
    await on.type('.member > input', 'quiet')
    expect((await on.send()).text).toContain('QUIET')
    expect(faults).toEqual([])
  })

  it('chat with a model', async () => {
    await on.open('openai_chat')
    // Another model comes first, which does not chat.
    expect(await on.texts('.chat option')).toEqual(['tiny'])
    await on.page.type('.chat textarea', 'What is a batch?')
    await on.press('Say')
    await on.page.waitForFunction(
      () => (document.querySelector('.message.assistant')?.textContent ?? '').length > 10,
    )
    expect(await on.texts('.message.user')).toEqual(['What is a batch?'])
    expect(await violationsOf(on.page)).toEqual([])
    expect(faults).toEqual([])
  })
})
