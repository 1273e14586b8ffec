/** Live streams on the page, written and spoken, and parameters of paths. */
import type { Page } from 'puppeteer-core'
import { io, Service } from 'serving'
import { beforeEach, describe, expect, it } from 'vitest'
import { violationsOf } from './axe.ts'
import { chromium, servePage } from './browser.ts'

const svc = new Service('live')
svc.live(
  'upper',
  { input: new io.Text(), output: new io.Text(), maxMessage: 100 },
  async function* (inputs) {
    for await (const text of inputs) yield text.toUpperCase()
    yield 'the end'
  },
)
svc.live(
  'sums',
  { input: new io.NumpyNdarray({ dtype: 'int32' }), output: new io.JSON() },
  async function* (inputs) {
    for await (const { data } of inputs)
      yield { sum: [...data].reduce((sum, each) => sum + Number(each), 0) }
  },
)
const sound = new io.NumpyNdarray({ dtype: 'float32', shape: [-1] })
svc.live('loudness', { input: sound, output: new io.JSON() }, async function* (inputs) {
  for await (const { data } of inputs)
    yield { samples: data.length, isLoud: data.some((each) => Math.abs(each) > 0.01) }
})
svc.put(
  '/shelves/{shelf}/{item}',
  { input: new io.JSON(), output: new io.JSON() },
  function place(input, ctx) {
    return { ...ctx.params, input }
  },
)

describe.skipIf(chromium === undefined)(
  'live streams on the page in Chromium (needs chromium)',
  () => {
    const on = servePage(svc, '/v1')
    let page: Page
    let faults: string[]
    beforeEach(() => {
      ;({ page, faults } = on)
    })
    const shows = (selector: string, wanted: string) =>
      page.waitForFunction(
        (query, value) =>
          [...document.querySelectorAll(query)].some((each) => each.textContent?.includes(value)),
        {},
        selector,
        wanted,
      )
    const isHidden = async (label: string) =>
      (await on.find('button', label)).evaluate((each) => each.hidden)
    const say = async (text: string) => {
      await on.type('textarea', text)
      await page.click('.send')
    }

    it('sends texts one by one, shows what comes back in order, and ends', async () => {
      await on.open('upper')
      expect(await on.textOf('.code-panel pre')).toContain('const live = client.upper.open()\n')
      await say('hello')
      await shows('.answer pre', 'HELLO')
      await say('{"$":"end"}')
      await shows('.answer pre', '{"$":"END"}')
      await on.press('End')
      await shows('.answer .status', 'ended')
      expect(await on.texts('.answer pre')).toEqual(['HELLO', '{"$":"END"}', 'the end'])
      await say('again')
      await shows('.answer .status', 'open')
      await shows('.answer pre', 'AGAIN')
      expect(faults).toEqual([])
    })

    it('closes where the page shows another API', async () => {
      const watched = await page.createCDPSession()
      await watched.send('Network.enable')
      await on.open('upper')
      await say('hello')
      await shows('.answer pre', 'HELLO')
      const closed = new Promise((resolve) => watched.once('Network.webSocketClosed', resolve))
      await on.open('sums')
      await closed
      expect(faults).toEqual([])
    })

    it('says that a text is too long, and goes on', async () => {
      await on.open('upper')
      await say('x'.repeat(101))
      await shows(
        '.answer .failure',
        'expected at most 100 bytes for a message to upper (maxMessage), received 101',
      )
      await say('short')
      await shows('.answer pre', 'SHORT')
      expect(faults).toEqual([])
    })

    it('shows an error where it is in the input', async () => {
      await on.open('sums')
      expect(await isHidden('Microphone')).toBe(true)
      await say('[1, 2]')
      await shows('.answer pre', '"sum": 3')
      await say('[1, x]')
      await shows('.answer .status', 'ended')
      expect(await on.textOf('.answer .failure')).toMatch(/^expected JSON/)
      expect(await on.textOf('mark')).toBe('x')
      expect(faults).toEqual([])
    })

    it('sends the microphone, and stops', async () => {
      await on.open('loudness')
      expect(await isHidden('Microphone')).toBe(false)
      await on.press('Microphone')
      // Chromium's device that is not real beeps.
      await shows('.answer pre', '"isLoud": true')
      expect(await on.textOf('.answer pre')).toContain('"samples": 2048')
      await on.press('Stop')
      expect(await on.texts('form button')).toContain('Microphone')
      await on.press('End')
      await shows('.answer .status', 'ended')
      expect(faults).toEqual([])
    })

    it('says why it has no sound', async () => {
      await on.open('loudness')
      await page.evaluate(() => {
        navigator.mediaDevices.getUserMedia = () =>
          Promise.reject(new DOMException('no', 'NotAllowedError'))
      })
      await on.press('Microphone')
      await shows('.answer .failure', 'The browser does not let this page use the microphone.')
      expect(await on.texts('form button')).toContain('Microphone')
      expect(faults).toEqual([])
    })

    it.each(['light', 'dark'])('has nothing that axe-core finds, in %s colours', async (scheme) => {
      await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }])
      await on.open('loudness')
      await say('[0.5]')
      await shows('.answer pre', '"isLoud": true')
      expect(await violationsOf(page)).toEqual([])
    })

    it('asks for the parameters of a path', async () => {
      await on.open('place')
      expect(await on.textOf('.route')).toBe('PUT /v1/shelves/{shelf}/{item}')
      await page.type('.member:first-of-type > input', 'a b')
      await page.type('.member:last-of-type > input', 'ü/1')
      await on.type('textarea', '{"count": 2}')
      const { status, text } = await on.send()
      expect(status).toBe('200')
      expect(JSON.parse(text.slice(text.indexOf('{')))).toEqual({
        shelf: 'a b',
        item: 'ü/1',
        input: { count: 2 },
      })
      expect(await on.textOf('.code-panel pre')).toContain('/v1/shelves/a%20b/%C3%BC%2F1')
      expect(faults).toEqual([])
    })
  },
)
