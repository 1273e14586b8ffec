import { createHash } from 'node:crypto'
import { io, Service } from 'serving'
import { expect, it, onTestFinished } from 'vitest'
import { apiKey } from '../../src/api/auth/index.ts'
import { serve } from '../../src/server/listener.ts'
import { chromium, launch, watch } from './browser.ts'

it.skipIf(chromium === undefined)(
  'the page asks for credentials where the service wants them',
  async () => {
    const browser = await launch()
    onTestFinished(() => browser.close())
    const hash = createHash('sha256').update('secret').digest('hex')
    const guarded = new Service('guarded', { auth: apiKey({ keys: [hash] }) })
    guarded.api({ input: new io.Text(), output: new io.Text() }, function hello(name: string) {
      return `Hello, ${name}!`
    })
    const own = await serve(guarded, { port: 0, host: '127.0.0.1' })
    try {
      const { page } = await watch(browser, `http://127.0.0.1:${own.port}`)
      const textOf = (selector: string) => page.$eval(selector, (each) => each.textContent)
      await page.goto(`http://127.0.0.1:${own.port}/`)
      await page.waitForFunction(() =>
        document.querySelector('form p')?.textContent?.includes('credentials'),
      )
      expect(await page.$('.failure')).toBeNull()
      expect(await textOf('h1')).toBe('serving')
      await page.keyboard.type('secre')
      await page.keyboard.press('Enter')
      await page.waitForFunction(
        () => document.querySelector('.failure')?.textContent === 'Wrong key or token.',
      )
      await page.keyboard.press('End')
      await page.keyboard.type('t')
      await page.keyboard.press('Enter')
      await page.waitForFunction(() => document.querySelector('h2')?.textContent === 'hello')
      expect(await textOf('h1')).toBe('guarded')
      // The API takes the key as well, and its code has a place for one.
      await page.click('.send')
      await page.waitForFunction(
        () => document.querySelector('.answer pre')?.textContent === 'Hello, text!',
      )
      expect(await textOf('.code-panel pre')).toContain("-H 'x-api-key: YOUR_KEY'")
    } finally {
      await own.close()
    }
  },
  60_000,
)

it.skipIf(chromium === undefined)(
  'the page of a service without APIs shows the paths of its protocols and mounted handlers',
  async () => {
    const browser = await launch()
    onTestFinished(() => browser.close())
    const openapi = {
      openapi: '3.1.0',
      paths: { '/app/items': { get: { responses: {} }, post: { responses: {} } } },
    }
    const textsOf = async (svc: Service) => {
      const own = await serve(svc, { port: 0, host: '127.0.0.1' })
      onTestFinished(() => own.close())
      const base = `http://127.0.0.1:${own.port}`
      const { page } = await watch(browser, base)
      await page.goto(`${base}/docs`)
      await page.waitForSelector('main p')
      const all = await page.$$eval('main p, main li, main pre', (list) =>
        list.map((each) => each.textContent),
      )
      return all.map((text) => text?.replace(base, 'BASE'))
    }
    const described = new Service('described')
    described.mount('/app', () => new Response('app'), { openapi })
    expect(await textsOf(described)).toContain('GET /app/items')
    const plain = new Service('plain')
    plain.mount('/app', () => new Response('app'))
    expect(await textsOf(plain)).toContain('ANY /app/*')
    expect(await textsOf(new Service('empty', { protocols: [] }))).toEqual([
      'The service has no APIs yet: write one with svc.api(…), and reload the page.',
    ])
  },
  60_000,
)
