/** Paths on the page that are no APIs: of OpenAI with a chat, of protocols, of mounted handlers with a document. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { io, Service } from 'serving'
import { beforeEach, describe, expect, it } from 'vitest'
import chat from '../../examples/openai/service.ts'
import { chromium, servePage } from './browser.ts'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

const items = { get: { summary: 'All items.', responses: {} } }
const openapi = { openapi: '3.1.0', paths: { '/app/items': items } }
const svc = new Service('all', {
  runners: chat.runners ?? [],
  protocols: chat.protocols,
  openapi: { include: ['health', 'oip'] },
})
svc.mount('/app', () => new Response('from the mount'), { openapi })
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

  it('chat with a model', async () => {
    await on.open('openai_chat')
    await on.page.waitForSelector('.chat option')
    await on.page.type('.chat textarea', 'What is a batch?')
    await on.press('Say')
    await on.page.waitForFunction(
      () => (document.querySelector('.message.assistant')?.textContent ?? '').length > 10,
    )
    expect(await on.texts('.message.user')).toEqual(['What is a batch?'])
    await on.page.evaluate(axe)
    expect(
      await on.page.evaluate('axe.run().then(({ violations }) => violations.map(({ id }) => id))'),
    ).toEqual([])
    expect(faults).toEqual([])
  })
})
