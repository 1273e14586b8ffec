/** The pages of `serving load` and `serving replay`, with values of callers who want to run something on them. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Browser } from 'puppeteer-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { reportPage } from '../../src/cli/report-page.ts'
import { folder } from '../cli/process.ts'
import { violationsOf } from './axe.ts'
import { chromium, launch } from './browser.ts'

const hostile = '</script><script>document.title = "run"</script><img src=x onerror="alert(1)">$&$1'
const quantiles = { p50: 1.25, p90: 2, p99: 3, 'p99.9': 150.4, max: Number.POSITIVE_INFINITY }
const drift = {
  ...{ column: hostile, psi: 0.25, ks: 0.5, missing: [0, 0.125] },
  newCategories: [hostile],
}
const replayed = {
  ...{ place: hostile, against: hostile, allow: 0.01, compared: 4, changed: 2, isAllowed: false },
  apis: [
    {
      ...{ api: hostile, compared: 4, changed: 2, topChanged: 1, skipped: { [hostile]: 3 } },
      ...{ recordedMs: quantiles, replayedMs: quantiles, sizes: { '1e-3': 1, 'no number': 1 } },
      worst: [
        { at: hostile, expected: hostile, actual: hostile, requestId: hostile },
        { at: '[1]', expected: '1', actual: '2', size: 0.5, requestId: 'a' },
        { at: '[2]', expected: '1', actual: 'Infinity', size: Infinity, requestId: 'b' },
      ],
      drift: { inputs: [], outputs: [drift, { ...drift, psi: 0, ks: undefined }] },
    },
  ],
}
const loaded = {
  url: `http://localhost/${hostile}`,
  boundMs: 20,
  summaries: [100, 50].map((rate) => ({
    ...{ rate, seconds: 1, sent: rate, failed: 1, faults: { [hostile]: 1 }, goodput: rate - 1 },
    ...{ latencyMs: quantiles, lateMs: 1, ownCpu: 0.125 },
  })),
}

describe.skipIf(chromium === undefined)('a report in Chromium (needs chromium)', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launch()
  })
  afterAll(() => browser.close())

  /** Opens a report as a file, and returns what its page shows and does. */
  async function shown(report: object) {
    const page = await browser.newPage()
    const deeds: string[] = []
    page.on('request', (request) => deeds.push(request.url().replace(/^file:.*\//, '')))
    page.on('pageerror', (error) => deeds.push(String(error)))
    page.on('console', (message) => deeds.push(message.text()))
    page.on('dialog', (dialog) => {
      deeds.push(dialog.message())
      void dialog.dismiss()
    })
    const file = join(folder({}), 'report.html')
    writeFileSync(file, reportPage(report))
    await page.goto(pathToFileURL(file).href)
    const texts = (selector: string) =>
      page.$$eval(selector, (elements) => elements.map(({ textContent }) => textContent ?? ''))
    return { page, deeds, texts, title: await page.title() }
  }

  it('of a replay shows changes, histograms, latencies and drift, and runs nothing of a capture', async () => {
    const { page, deeds, texts, title } = await shown(replayed)
    expect(title).toBe(`Replay against ${hostile}`)
    expect(await texts('h1, h2, h3')).toEqual([
      ...[title, hostile, 'Worst changes', 'Changed calls by relative error', 'Latency'],
      ...['Drift of outputs, from recorded to now', 'Not compared'],
    ])
    expect(await texts('p')).toEqual([
      `2 of 4 calls changed, and 1 % may. Recorded in ${hostile}.`,
      '2 of 4 changed. Of 1, another score is the greatest.',
    ])
    expect(await texts('td')).toEqual([
      ...[hostile, hostile, hostile, '', hostile],
      ...['[1]', '1', '2', '0.500', 'a'],
      ...['[2]', '1', 'Infinity', 'infinite', 'b'],
      ...['1e-3', '', '1', 'no number', '', '1'],
      ...['recorded', '1.25 ms', '2 ms', '3 ms', '150 ms', 'never'],
      ...['now', '1.25 ms', '2 ms', '3 ms', '150 ms', 'never'],
      ...[`⚠ ${hostile}`, '0.250', '0.500', '0 % → 12.5 %', hostile],
      ...[hostile, '0.000', '', '0 % → 12.5 %', hostile],
      ...[hostile, '3'],
    ])
    expect(await page.$$eval('script, img', (elements) => elements.length)).toBe(2)
    expect(deeds).toEqual(['report.html'])
    expect(await violationsOf(page)).toEqual([])
    await page.close()
  })

  it('of a load shows a curve for each quantile, and the figures by rate', async () => {
    const { page, deeds, texts, title } = await shown(loaded)
    expect(title).toBe(`Load on http://localhost/${hostile}`)
    expect(await texts('svg text')).toEqual([
      ...['p50', 'p90', 'p99', 'p99.9', '50/s', '100/s', '1.25 ms', '150 ms'],
    ])
    expect(
      await page.$$eval('polyline', (lines) => lines.map((line) => line.points.length)),
    ).toEqual([2, 2, 2, 2])
    const latencies = ['1.25 ms', '2 ms', '3 ms', '150 ms', 'never']
    expect(await texts('td')).toEqual([
      ...['50', '50', '1', ...latencies, '49.0', '1 ms', '13 %'],
      ...['100', '100', '1', ...latencies, '99.0', '1 ms', '13 %'],
    ])
    expect(deeds).toEqual(['report.html'])
    expect(await violationsOf(page)).toEqual([])
    await page.close()
  })
})
