/** Jobs on the page: submitted, watched and canceled. */
import { mkdtempSync, rmSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'puppeteer-core'
import { io, Service } from 'serving'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { deferred } from '../../src/core/promise.ts'
import { violationsOf } from './axe.ts'
import { chromium, servePage } from './browser.ts'

const folder = mkdtempSync(join(tmpdir(), 'serving-page-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const svc = new Service('later', { jobs: { store: `sqlite:${join(folder, 'jobs.db')}` } })
let gate = deferred<void>()
const text = { input: new io.Text(), output: new io.Text() }
svc.api({ ...text, name: 'spell', async: true }, async function* (word, ctx) {
  yield `${word[0]}…`
  await ctx.job?.progress({ done: 1, total: 4 })
  const ended = new Promise((_, reject) =>
    ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason)),
  )
  await Promise.race([gate.promise, ended])
  yield word.slice(1)
})
svc.api({ ...text, name: 'plain' }, (word) => word)

const canRun = chromium !== undefined && isBuiltin('node:sqlite')

describe.skipIf(!canRun)('jobs on the page in Chromium (needs chromium and Node 22.13)', () => {
  const on = servePage(svc, '/v1')
  // Before the server stops, which waits for its jobs.
  afterAll(() => gate.resolve())
  let page: Page
  let faults: string[]
  beforeEach(async () => {
    gate.resolve()
    gate = deferred()
    ;({ page, faults } = on)
    await on.open('spell')
    await on.type('textarea', 'hello')
  })
  const shows = (selector: string, wanted: string) =>
    page.waitForFunction(
      (query, value) => document.querySelector(query)?.textContent === value,
      {},
      selector,
      wanted,
    )
  const submit = async () => {
    await on.press('Submit as a job')
    await page.waitForSelector('progress:not([hidden])')
  }

  it('shows progress and partial results, then the answer', async () => {
    await submit()
    await shows('.answer .status', 'running')
    expect(await page.$eval('progress', ({ value }) => value)).toBe(0.25)
    await shows('.answer pre', 'h…')
    gate.resolve()
    await shows('.answer pre', 'h…ello')
    await shows('.send', 'Send')
    expect(await on.texts('.answer .status')).toEqual(['completed', '200'])
    expect(faults).toEqual([])
  })

  it('finds a job again after a reload, by its id in the address', async () => {
    await submit()
    const id = await on.textOf('.answer code')
    expect(await on.textOf('.code-panel pre')).toContain('prefer: respond-async')
    expect(await on.textOf('.answer .tools .dim')).toBe('1 of 4')
    await page.reload()
    await shows('.answer .status', 'running')
    await shows('.answer pre', 'h…')
    gate.resolve()
    await shows('.answer pre', 'h…ello')
    expect(page.url()).toContain(`#/spell?job=${id}`)
    expect(faults).toEqual([])
  })

  it('shows the place in the queue, and cancels', async () => {
    await fetch(`${on.base}/spell`, {
      method: 'POST',
      headers: { prefer: 'respond-async', 'content-type': 'text/plain' },
      body: 'before',
    })
    await on.press('Submit as a job')
    await shows('.answer .status', 'queued')
    await page.waitForFunction(() =>
      /^\d before it$/.test(document.querySelector('.answer .status + span')?.textContent ?? ''),
    )
    await on.press('Cancel')
    await shows('.answer .status', 'canceled')
    await shows('.send', 'Send')
    expect(
      await on.find('button', 'Cancel').then((found) => found.evaluate((each) => each ?? null)),
    ).toBe(null)
    expect(faults).toEqual([])
  })

  it('stops watching without an end of the job, and shows refusals', async () => {
    await submit()
    await page.click('.send')
    await shows('.answer .failure', 'The job continues.')
    await on.open('plain')
    expect(await on.texts('form button')).not.toContain('Submit as a job')
    expect(faults).toEqual([])
  })

  it.each(['light', 'dark'])('has nothing that axe-core finds, in %s colours', async (scheme) => {
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }])
    await submit()
    expect(await violationsOf(page)).toEqual([])
  })
})
