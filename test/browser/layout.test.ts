/**
 * The page as a whole: its list, its examples, its reference, and what axe-core says of it.
 */
import { fileURLToPath } from 'node:url'
import type { Page } from 'puppeteer-core'
import { beforeEach, describe, expect, it } from 'vitest'
import svc from '../client/service.ts'
import { violationsOf } from './axe.ts'
import { chromium, servePage } from './browser.ts'

const pattern = fileURLToPath(new URL('../../examples/all/pattern.png', import.meta.url))

describe.skipIf(chromium === undefined)(
  'the layout of the page in Chromium (needs chromium)',
  () => {
    const on = servePage(svc, '/v1')
    const { find, open, type, upload, send, textOf, texts } = on
    let base: string
    let page: Page
    let faults: string[]
    beforeEach(() => {
      ;({ base, page, faults } = on)
    })

    it('lists the APIs and opens each', async () => {
      await page.goto(`${base}/`)
      await page.waitForSelector('nav a')
      expect(await page.title()).toBe('clients')
      const posts = [...svc.apis.keys()].map((name) => `POST /${name}`)
      const gets = [...svc.routes.keys()].map((name) => `GET /${name}`)
      expect((await texts('nav a')).toSorted()).toEqual([...posts, ...gets].toSorted())
      expect(await texts('nav .group')).toEqual([
        'Arrays',
        'Tables',
        'Series',
        'JSON',
        'Texts',
        'Pictures',
        'Files',
        'Forms',
        'Queries',
      ])
      expect(await textOf('nav a[aria-current]')).toBe('POST /double')
      await (await find('nav a', 'POST /words')).click()
      await page.waitForFunction(() => document.querySelector('h2')?.textContent === 'words')
      expect(await textOf('.route')).toBe('POST /v1/words')
      expect(await page.$eval('article .doc', (each) => each.innerHTML)).toBe(
        '<p>Sends the words back <em>one by one</em>.</p>',
      )
      await type('nav input', 'forms')
      expect(await texts('nav section:not([hidden]) li:not([hidden])')).toEqual(['POST /mix'])
      expect(faults).toEqual([])
    })

    it('keeps the chosen API in view, on a phone as a menu', async () => {
      const isVisible = (selector: string) =>
        page.$eval(selector, (each) => {
          const { top, bottom, left, right } = each.getBoundingClientRect()
          const at = document.elementFromPoint((left + right) / 2, (top + bottom) / 2)
          return top >= 0 && bottom <= innerHeight && (at === each || each.contains(at))
        })
      await page.setViewport({ width: 1280, height: 500 })
      await open('labels')
      await page.evaluate(() => scrollTo(0, document.body.scrollHeight))
      expect(await isVisible('nav a[aria-current]')).toBe(true)
      await page.setViewport({ width: 390, height: 844 })
      await page.evaluate(() => scrollTo(0, document.body.scrollHeight))
      expect(await isVisible('.menu')).toBe(true)
      expect(await textOf('.menu')).toBe('GET /labels')
      await page.click('.menu')
      await (await find('nav a', 'POST /double')).click()
      await page.waitForFunction(() => document.querySelector('h2')?.textContent === 'double')
      expect(await page.$eval('.menu', (each) => each.getAttribute('aria-expanded'))).toBe('false')
      expect(await isVisible('h2')).toBe(true)
      expect(faults).toEqual([])
    })

    it('offers the examples that the service gives', async () => {
      await open('double')
      expect(await texts('.gallery button > span:last-child')).toEqual(['Counting', 'Halves'])
      expect(await page.$eval('textarea', (each) => each.value)).toBe('[1, 2, 3]')
      await (await page.$('.gallery button:last-child'))?.click()
      await page.waitForFunction(
        () => document.querySelector('textarea')?.value === '[[0.5],\n [1.5]]',
      )
      expect((await send()).status).toBe('200')
      await open('negative')
      await page.waitForSelector('.gallery img')
      await page.waitForSelector('.shown img')
      expect((await send()).status).toBe('200')
      await open('reverse')
      // Any file may be chosen.
      expect(
        await page.$eval('input[type=file]', (each) => (each as HTMLInputElement).accept),
      ).toBe('')
      await page.waitForFunction(
        () => document.querySelector<HTMLAudioElement>('.shown audio')?.duration === 0.1,
      )
      await open('mix')
      await page.waitForSelector('.shown img')
      expect(
        await page.$eval('[aria-label=weights]', (each) => (each as HTMLTextAreaElement).value),
      ).toBe('[2.0]')
      expect((await send()).status).toBe('200')
      expect(await textOf('.answer pre.text')).toBe('hello')
      for (const name of ['frame_csv', 'frame_parquet']) {
        await open(name)
        await page.waitForFunction(
          (wanted) => document.querySelector('.shown')?.textContent?.includes(wanted),
          {},
          name === 'frame_csv' ? '1 rows, 2 columns' : 'sent unchanged',
        )
        expect((await send()).text).toContain('1 rows, 2 columns')
      }
      await open('total')
      expect(
        await page.$$eval('.edit td input', (all) =>
          all.map((each) => (each as HTMLInputElement).value),
        ),
      ).toEqual(['tea', '2.5', '4'])
      expect(faults).toEqual([])
    })

    it('tells the schemas and errors of an API', async () => {
      await open('greet')
      const shown = await page.$eval('.fold:last-child', (each) => each.textContent)
      expect(shown).toContain(
        'name: string\n  born: integer 1900 to 2100\n  title?: "Dr" | "Prof"\n',
      )
      expect(shown).toContain('400bad_inputsyntax, encoding, schema')
    })

    it.each([
      { scheme: 'light', width: 1200 },
      { scheme: 'dark', width: 1200 },
      { scheme: 'light', width: 375 },
    ])(
      'has nothing that axe-core finds, in $scheme colours, $width pixels wide',
      async ({ scheme, width }) => {
        await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }])
        await page.setViewport({ width, height: 800 })
        const all: string[] = []
        for (const name of [
          'echo',
          'total',
          'center',
          'greet',
          'words',
          'negative',
          'reverse',
          'mix',
        ]) {
          await open(name)
          if (name === 'negative' || name === 'mix') await upload('input[type=file]', pattern)
          await send()
          await page.$$eval('details', (all) => all.map((each) => each.setAttribute('open', '')))
          all.push(...(await violationsOf(page)).map((each) => `${name}: ${each}`))
          expect(
            await page.evaluate(() => document.documentElement.scrollWidth),
          ).toBeLessThanOrEqual(width)
        }
        expect(all).toEqual([])
      },
      120_000,
    )
  },
)
