/**
 * A headless Chromium, where one is installed.
 * @module
 */
import { existsSync } from 'node:fs'
import puppeteer, { type Browser, type ElementHandle, type Page } from 'puppeteer-core'

const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome', '/opt/google/chrome/chrome']

/** The browser's program: `CHROMIUM`, or where Linux distributions put it. Undefined when there is none. */
export const chromium = [process.env.CHROMIUM ?? '', ...places].find((file) => file !== '' && existsSync(file))

/** Starts the browser. */
export function launch(): Promise<Browser> {
  return puppeteer.launch({
    executablePath: chromium,
    // As root, which CI containers are, Chromium runs without a sandbox only.
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
  })
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
    if (message.type() === 'error' && !text.startsWith('Failed to load resource')) faults.push(`console: ${text}`)
  })
  page.on('pageerror', (error) => faults.push(`error: ${error}`))
  return { page, faults }
}

/** Finds the element of that text. */
export async function findElement(page: Page, selector: string, text: string): Promise<ElementHandle<HTMLElement>> {
  const found = await page.evaluateHandle(
    (query, wanted) => [...document.querySelectorAll<HTMLElement>(query)].find((each) => each.textContent === wanted),
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
