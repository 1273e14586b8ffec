/** Handlers of serving-io in a page: what a service worker would run. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, Page } from 'puppeteer-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { bundleOf, packedIo } from '../io/web-bundle.ts'
import { cases } from '../io/web-cases.ts'
import { ask } from '../io/web-handlers.ts'
import { chromium, launch, watch } from './browser.ts'

/** What the page's script puts into the window. */
declare const handlers: { readonly ask: typeof ask }

// The model: what Node answers without the add-on, whose messages name other places.
vi.hoisted(() => {
  process.env.SERVING_NATIVE = 'off'
})

const packed = chromium === undefined ? '' : packedIo()

describe.skipIf(chromium === undefined)('serving-io in Chromium (needs chromium)', () => {
  let browser: Browser
  let server: Server
  let page: Page
  let faults: string[]

  beforeAll(async () => {
    server = createServer((_, res) =>
      res.setHeader('content-type', 'text/html').end('<!doctype html>'),
    )
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    browser = await launch()
    const watched = await watch(browser, origin)
    page = watched.page
    faults = watched.faults
    await page.goto(`${origin}/`)
    await page.evaluate((await bundleOf('test/io/web-handlers.ts', 'browser', packed)).text)
  }, 60_000)
  afterAll(async () => {
    await browser?.close()
    server?.close()
  })

  it.each(cases)('answers %s as Node does', async (_, path, headers, body) => {
    const told = await page.evaluate((...asked) => handlers.ask(...asked), path, headers, body)
    expect(told).toEqual(await ask(path, headers, body))
  })

  it('does nothing that a page should not', () => {
    expect(faults).toEqual([])
  })
})
