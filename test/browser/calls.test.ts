/** The calls of a service that is written: which shared a batch, what they waited for, and what was refused. */
import { beforeEach, describe, expect, it } from 'vitest'
import { CallRecorder } from '../../src/telemetry/calls/call-recorder.ts'
import { violationsOf } from './axe.ts'
import { chromium, servePage } from './browser.ts'
import svc from './calls.service.ts'

describe.skipIf(chromium === undefined)('calls on the page in Chromium (needs chromium)', () => {
  const on = servePage(svc, '/v1', { maxBodyBytes: 2000 }, new CallRecorder())
  let faults: string[]
  beforeEach(() => {
    ;({ faults } = on)
  })
  const post = (path: string, body: string) =>
    fetch(`${on.base}/${path}`, { method: 'POST', headers: { 'content-type': 'text/plain' }, body })
  const score = () =>
    fetch(`${on.base}/score`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': 'secret-key' },
      body: '[[0.125, 2, 3, 4]]',
    })
  const openCalls = async () => {
    await on.page.goto(`${on.base}/docs`)
    await (await on.find('header a', 'Calls')).click()
    await on.page.waitForSelector('.calls')
  }
  const hasCalls = (count: number) =>
    on.page.waitForFunction(
      (wanted) => document.querySelectorAll('.call').length >= wanted,
      {},
      count,
    )

  it('say what to do while there are none', async () => {
    await openCalls()
    expect(await on.textOf('.calls .empty')).toContain('No calls yet. Send one')
    expect(await violationsOf(on.page)).toEqual([])
    expect(faults).toEqual([])
  })

  it('are no longer asked for where the page shows an API', async () => {
    await openCalls()
    await on.page.waitForFunction(
      () => document.querySelector('[role=status]')?.textContent === 'live',
    )
    const ended = new Promise<void>((resolve) => {
      on.page.on('requestfailed', (request) => {
        if (request.url() === `${on.base}/docs/calls`) resolve()
      })
    })
    await on.open('score')
    await ended
    expect(faults).toEqual([])
  })

  it('come as they end, with those that shared a batch, and what that waited for', async () => {
    await openCalls()
    const first = score()
    await new Promise((resolve) => setTimeout(resolve, 200))
    await Promise.all([first, score(), score(), score()])
    await hasCalls(4)
    const bars = await on.page.$$eval('summary > .timeline', (all) =>
      all.map((each) => each.getBoundingClientRect().left),
    )
    expect(new Set(bars).size).toBe(1)
    const shared = await on.texts('.call summary')
    expect(shared.filter((text) => /batch \d+, 3 calls/.test(text ?? ''))).toHaveLength(3)
    await on.page.focus('.call summary')
    await on.page.keyboard.press('Enter')
    await on.page.waitForSelector('.call[open] .mates')
    const why = await on.textOf('.call[open] section')
    expect(why).toMatch(
      /^Batch \d+ of process \d+ of scorer.predict: 3 calls, 3 rows, .* in the model. /,
    )
    expect(why).toMatch(/waited .*, until batch \d+ of process \d+ had ended and a thread was free/)
    expect(why).toContain('It took all that waited')
    expect(await on.texts('.call[open] .mates > :nth-child(odd)')).toHaveLength(4)
    expect(await on.page.$$eval('.call.mate', (all) => all.length)).toBe(3)
    const parts = await on.texts('.call[open] tbody th')
    for (const part of [
      'decode',
      'queue of',
      'batch, joined',
      'model of',
      'batch, split',
      'encode',
    ])
      expect(parts.join('\n')).toContain(part)
    await (await on.page.$('.mates .link'))?.click()
    expect(await on.page.$$eval('.call[open]', (all) => all.length)).toBe(2)
    expect(await violationsOf(on.page)).toEqual([])
    expect(faults).toEqual([])
  })

  it('have those that were refused, and no body, header or query', async () => {
    expect((await post('full?token=secret-query', 'x')).status).toBe(503)
    expect((await post('full', 'secret-body '.repeat(300))).status).toBe(413)
    expect((await post('nowhere', '')).status).toBe(404)
    await openCalls()
    await hasCalls(3)
    await on.press('Errors')
    const texts = (await on.texts('.call-list li:not([hidden]) summary')).join('\n')
    for (const text of ['503 overloaded', '413 payload_too_large', '404 not_found', '/v1/nowhere'])
      expect(texts).toContain(text)
    await on.page.$$eval('details.call', (all) => all.map((each) => each.setAttribute('open', '')))
    expect(await on.page.content()).not.toContain('secret')
    expect(await violationsOf(on.page)).toEqual([])
    expect(faults).toEqual([])
  })
})
