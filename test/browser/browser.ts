/**
 * A headless Chromium, where one is installed.
 * @module
 */
import { existsSync } from 'node:fs'
import puppeteer, { type Browser, type ElementHandle, type Page } from 'puppeteer-core'
import { afterAll, beforeAll, beforeEach } from 'vitest'
import type { Listener, ServeOptions } from '../../src/engine/options.ts'
import { serveFrom } from '../../src/server/listener.ts'
import type { Service } from '../../src/service.ts'
import type { CallRecorder } from '../../src/telemetry/calls/call-recorder.ts'

const places = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/opt/google/chrome/chrome',
]

/** The browser's program: `CHROMIUM`, or where Linux distributions put it. Undefined when there is none. */
export const chromium = [process.env.CHROMIUM ?? '', ...places].find(
  (file) => file !== '' && existsSync(file),
)

/** A beep each second is what pages record, without asking. */
const microphone = ['--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream']

/** Starts the browser, again if it says nothing for 25 seconds: the first start on a busy disk. */
export function launch(): Promise<Browser> {
  const start = () =>
    puppeteer.launch({
      executablePath: chromium,
      // As root, which CI containers are, Chromium runs without a sandbox only.
      args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', ...microphone],
      timeout: 25_000,
    })
  return start().catch(start)
}

/** What a page did that it should not: requests to other origins, messages of errors, violations of its policy. */
export interface Watched {
  readonly page: Page
  readonly faults: string[]
}

/** Opens a page and watches what it does. Answers of status 400 and up are no faults: tests ask for them. */
export async function watch(browser: Browser, origin: string): Promise<Watched> {
  const page = await browser.newPage()
  const faults: string[] = []
  page.on('request', (request) => {
    const url = request.url()
    if (!url.startsWith(`${origin}/`) && !/^(data|blob):/.test(url)) faults.push(`request: ${url}`)
  })
  page.on('console', (message) => {
    const text = message.text()
    if (message.type() === 'error' && !text.startsWith('Failed to load resource'))
      faults.push(`console: ${text}`)
  })
  page.on('pageerror', (error) => faults.push(`error: ${error}`))
  return { page, faults }
}

/** Finds the element of that text. */
export async function findElement(
  page: Page,
  selector: string,
  text: string,
): Promise<ElementHandle<HTMLElement>> {
  const found = await page.evaluateHandle(
    (query, wanted) =>
      [...document.querySelectorAll<HTMLElement>(query)].find(
        (each) => each.textContent === wanted,
      ),
    selector,
    text,
  )
  return found as ElementHandle<HTMLElement>
}

/** Types a text in place of another. */
export async function replaceText(page: Page, selector: string, text: string): Promise<void> {
  await page.click(selector, { count: 3 })
  await page.keyboard.down('Control')
  await page.keyboard.press('a')
  await page.keyboard.up('Control')
  await page.keyboard.type(text)
}

/**
 * The page of a service in a browser, a new one for each test, with what a person does to it. `recorder`: as while the
 * service is written.
 */
export function servePage(
  svc: Service,
  baseUrl: string,
  options: ServeOptions = {},
  recorder?: CallRecorder,
) {
  let browser: Browser
  let listener: Listener
  const own = { base: '', page: undefined as unknown as Page, faults: [] as string[] }
  beforeAll(async () => {
    const all = { ...options, port: 0, host: '127.0.0.1', baseUrl }
    listener = await serveFrom(svc, all, undefined, undefined, recorder)
    own.base = `http://127.0.0.1:${listener.port}${baseUrl}`
    browser = await launch()
  }, 60_000)
  beforeEach(async () => {
    await own.page?.close()
    Object.assign(own, await watch(browser, new URL(own.base).origin))
    await own.page.setViewport({ width: 1280, height: 1200 })
  })
  afterAll(async () => {
    await browser?.close()
    await listener?.close()
  })
  const texts = (selector: string) =>
    own.page.$$eval(selector, (all) => all.map((each) => each.textContent))
  const find = (selector: string, text: string) => findElement(own.page, selector, text)
  return Object.assign(own, {
    texts,
    find,
    textOf: (selector: string) => own.page.$eval(selector, (each) => each.textContent),
    /** Opens an API's form. */
    open: async (name: string) => {
      await own.page.goto(`${own.base}/docs#/${name}`)
      await own.page.waitForFunction(
        (wanted) => document.querySelector('h2')?.textContent === wanted,
        {},
        name,
      )
    },
    press: async (label: string) => (await find('button', label)).click(),
    type: (selector: string, text: string) => replaceText(own.page, selector, text),
    upload: async (selector: string, file: string) => {
      const input = (await own.page.$(selector)) as ElementHandle<HTMLInputElement>
      await input.uploadFile(file)
    },
    /** Sends the form and returns the status and the text of the answer. */
    send: async () => {
      await own.page.evaluate(() => document.querySelector('.answer')?.replaceChildren())
      // Not by the mouse: a picture that loads in between moves the button.
      await own.page.$eval('.send', (each) => (each as HTMLElement).click())
      await own.page.waitForFunction(
        () =>
          document.querySelector('.send')?.textContent === 'Send' &&
          document.querySelector('.answer')?.firstChild,
      )
      const text = await own.page.$eval('.answer', (each) => (each as HTMLElement).innerText)
      return { status: (await texts('.status'))[0], text }
    },
  })
}
