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
      await page.waitForFunction(() => document.querySelector('.failure')?.textContent?.includes('credentials'))
      expect(await textOf('h1')).toBe('serving')
      await page.keyboard.type('secret')
      await page.keyboard.press('Enter')
      await page.waitForFunction(() => document.querySelector('h2')?.textContent === 'hello')
      expect(await textOf('h1')).toBe('guarded')
      // The API takes the key as well, and its code has a place for one.
      await page.click('.send')
      await page.waitForFunction(() => document.querySelector('.answer pre')?.textContent === 'Hello, text!')
      expect(await textOf('.code-panel pre')).toContain("-H 'x-api-key: YOUR_KEY'")
    } finally {
      await own.close()
    }
  },
  60_000,
)
