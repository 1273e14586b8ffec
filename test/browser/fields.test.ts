/** Fields of a schema: lists, kinds, entries, null, dates, bounds, defaults; and that the first sample is valid. */
import type { Page } from 'puppeteer-core'
import { beforeEach, describe, expect, it } from 'vitest'
import { violationsOf } from './axe.ts'
import { chromium, servePage } from './browser.ts'
import svc from './service.ts'

describe.skipIf(chromium === undefined)('fields of a schema in Chromium (needs chromium)', () => {
  const on = servePage(svc, '/v1')
  let page: Page
  let faults: string[]
  beforeEach(async () => {
    ;({ page, faults } = on)
    await on.open('order')
  })
  const sent = async () => {
    const { status, text } = await on.send()
    return {
      status,
      body: status === '200' ? JSON.parse((await on.textOf('.answer pre')) ?? '') : text,
    }
  }
  /** Chooses an option by its text. */
  const choose = (selector: string, text: string) =>
    page.$eval(
      selector,
      (each, wanted) => {
        const select = each as HTMLSelectElement
        select.selectedIndex = [...select.options].findIndex((option) => option.text === wanted)
        select.dispatchEvent(new Event('change', { bubbles: true }))
      },
      text,
    )
  const pressIn = async (legend: string, text: string) => {
    const pressed = await page.evaluate(
      (wanted, label) => {
        const all = [...document.querySelectorAll('fieldset')]
        const set = all.find((each) =>
          each.querySelector('legend')?.textContent?.startsWith(wanted),
        )
        const found = [...(set?.querySelectorAll('button') ?? [])].find(
          (each) => each.textContent === label,
        )
        found?.click()
        return found !== undefined
      },
      legend,
      text,
    )
    expect(pressed).toBe(true)
  }

  it('starts with a sample that the service takes', async () => {
    const { status, body } = await sent()
    expect(status).toBe('200')
    expect(body).toMatchObject({
      country: 'fr',
      discount: 0.25,
      isGift: false,
      code: 'AAA0',
      email: 'someone@example.com',
    })
    expect(body.items).toHaveLength(1)
    expect(faults).toEqual([])
  })

  it('has dates, addresses and numbers, and tells their rules', async () => {
    expect(await page.$eval('input[type=date]', (each) => each.value)).toBe('2024-01-31')
    expect(await page.$$eval('input[type=email]', (all) => all.length)).toBe(1)
    expect(await page.$$eval('input[type=url]', (all) => all.length)).toBe(1)
    const about = (await on.texts('.member .dim')).join('\n')
    for (const text of [
      '0 to 1',
      'like ^[A-Z]{3}',
      'at least 2 characters',
      'date',
      'required',
      'optional',
    ])
      expect(about).toContain(text)
    const discount = await page.$('::-p-xpath(//label[starts-with(span, "discount")]/input)')
    await discount?.click({ count: 3 })
    await page.keyboard.type('0.5')
    expect((await sent()).body.discount).toBe(0.5)
    expect(faults).toEqual([])
  })

  it('adds and removes items and entries', async () => {
    await pressIn('items', 'Add item')
    await pressIn('labels', 'Add entry')
    const { body } = await sent()
    expect(body.items).toHaveLength(2)
    expect(Object.keys(body.labels).length).toBeGreaterThan(0)
    await pressIn('items', 'Remove')
    await pressIn('items', 'Remove')
    const none = await sent()
    expect(none.status).toBe('400')
    expect(none.body).toMatch(/path\s+items/)
    expect(faults).toEqual([])
  })

  it('marks the member of an item that is wrong', async () => {
    await pressIn('items', 'Add item')
    const counts = await page.$$('.item .member:last-child > input[type=text]')
    await counts[1].click({ count: 3 })
    await page.keyboard.type('500')
    expect((await on.send()).text).toMatch(/path\s+items\[1\].count/)
    expect(
      await page.$$eval('.item [aria-invalid]', (all) =>
        all.map((each) => (each as HTMLInputElement).value),
      ),
    ).toEqual(['500'])
  })

  it('offers the kinds of a union', async () => {
    const kinds = 'select[aria-label="payment: kind"]'
    expect(
      await page.$eval(kinds, (each) =>
        [...each.querySelectorAll('option')].map((all) => all.text),
      ),
    ).toEqual(['card', 'invoice'])
    // The kind is chosen once.
    expect(
      await page.$$eval('select', (all) => all.filter((each) => each.options.length === 1).length),
    ).toBe(0)
    await page.select(kinds, '1')
    expect((await sent()).body.payment).toEqual({ kind: 'invoice', days: 30 })
    await on.press('JSON')
    await on.press('Fields')
    expect(await page.$eval(kinds, (each) => (each as HTMLSelectElement).value)).toBe('1')
    await page.select('select[aria-label="size: kind"]', '1')
    expect(typeof (await sent()).body.size).toBe('string')
    expect(faults).toEqual([])
  })

  it('sends null, and leaves out what is optional', async () => {
    await choose('select[aria-label="sentAt: value or not"]', 'null')
    await choose('select[aria-label="note: value or not"]', 'null')
    await choose('select[aria-label="address: value or not"]', 'left out')
    const { body } = await sent()
    expect(body).toMatchObject({ sentAt: null, note: null })
    expect(body).not.toHaveProperty('address')
    await choose('select[aria-label="sentAt: value or not"]', 'value')
    await choose('select[aria-label="address: value or not"]', 'value')
    const again = (await sent()).body
    expect(again.sentAt).toMatch(/^\d{4}-\d\d-\d\dT/)
    expect(again.address).toHaveProperty('street')
    expect(faults).toEqual([])
  })

  it('keeps members that the schema does not name', async () => {
    const json = 'textarea[aria-label$="as JSON"]'
    await on.press('JSON')
    await on.type(json, '{"customer": "Ann", "later": [1]}')
    await on.press('Fields')
    await on.press('JSON')
    const text = await page.$eval(json, (each) => (each as HTMLTextAreaElement).value)
    expect(JSON.parse(text)).toMatchObject({ customer: 'Ann', later: [1] })
    expect(faults).toEqual([])
  })

  it('has parameters of the path like the others', async () => {
    await on.open('orders_id')
    // Without a schema, the query may have any.
    expect(await on.texts('form p.dim')).toContain('Members of any name')
    // No schema of the query: parameters of any name, and no text of JSON.
    expect(await on.texts('form .choice button')).toEqual(['Fields', 'JSON'])
    expect(
      await page.$$eval(
        'form textarea',
        (all) => all.filter((each) => each.checkVisibility()).length,
      ),
    ).toBe(0)
    expect(await on.texts('.member > span:first-child')).toEqual([
      'id integer, at least 1, required, the number on the bill',
    ])
    expect((await on.send()).text).toContain('"id": 1')
    await on.type('.member > input', '0')
    expect((await on.send()).status).toBe('400')
    expect(await page.$eval('.member > input', (each) => each.getAttribute('aria-invalid'))).toBe(
      'true',
    )
    expect(faults).toEqual([])
  })

  it.each([
    { scheme: 'light', width: 1280 },
    { scheme: 'light', width: 390 },
    { scheme: 'dark', width: 1280 },
    { scheme: 'dark', width: 390 },
  ])(
    'has nothing that axe-core finds, with a mistake, in $scheme colours, $width pixels wide',
    async ({ scheme, width }) => {
      await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }])
      await page.setViewport({ width, height: 900 })
      await pressIn('items', 'Add item')
      await pressIn('labels', 'Add entry')
      await choose('select[aria-label="note: value or not"]', 'null')
      await on.type('input[type=email]', 'nobody')
      expect((await sent()).body).toMatch(/path\s+email/)
      await page.waitForSelector('[aria-invalid]')
      expect(await violationsOf(page)).toEqual([])
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width)
      expect(faults).toEqual([])
    },
  )
})
