/**
 * The client of the package in a browser, by each bundler, with every descriptor.
 */
import type { Browser, Page } from 'puppeteer-core'
import type * as client from 'serving/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Listener } from '../../src/engine/options.ts'
import { serve } from '../../src/server/listener.ts'
import type * as service from '../client/service.ts'
import svc from '../client/service.ts'
import { bundleClient, bundlerNames, packedProject } from '../supply/packed.ts'
import { chromium, launch, watch } from './browser.ts'

/** What the page's script puts into the window. */
declare const serving: typeof client

const project = chromium === undefined ? '' : packedProject()

describe.skipIf(chromium === undefined).each(bundlerNames)(
  'the client by %s in Chromium (needs chromium)',
  (bundler) => {
    let browser: Browser
    let listener: Listener
    let page: Page
    let faults: string[]
    let base: string

    beforeAll(async () => {
      listener = await serve(svc, { port: 0, host: '127.0.0.1' })
      base = `http://127.0.0.1:${listener.port}`
      browser = await launch()
      const watched = await watch(browser, base)
      page = watched.page
      faults = watched.faults
      // A document of the server's own origin.
      await page.goto(`${base}/livez`)
      await page.evaluate((await bundleClient(project, bundler)).text)
    }, 60_000)
    afterAll(async () => {
      await browser?.close()
      await listener?.close()
    })

    it('sends and gets arrays', async () => {
      const answer = await page.evaluate(async (url) => {
        const { double, echo } = serving.createClient<typeof service>(url)
        const { dtype, shape, data } = await double({
          shape: [2, 2],
          data: Float32Array.of(1, 2, 3, 4),
        })
        const big = await echo({ shape: [1], data: BigInt64Array.of(2n ** 62n + 1n) })
        return {
          dtype,
          shape,
          data: [...data],
          big: String(big.data[0]),
          text: (await echo(['ü🦉'])).data[0],
        }
      }, base)
      expect(answer).toEqual({
        dtype: 'float32',
        shape: [2, 2],
        data: [2, 4, 6, 8],
        big: String(2n ** 62n + 1n),
        text: 'ü🦉',
      })
    })

    it('sends and gets frames, series, JSON and text', async () => {
      const answer = await page.evaluate(async (url) => {
        const { total, center, greet, words } = serving.createClient<typeof service>(url)
        let text = ''
        for await (const piece of words('one two')) text += piece
        const { greeting, id } = await greet({ name: 'Ada', born: 1990 })
        return {
          frame: await total({ item: ['tea'], price: [2.5], count: [4] }),
          series: await center([1, 2, 6]),
          greeting,
          id: String(id),
          text,
        }
      }, base)
      expect(answer).toEqual({
        frame: { item: ['tea'], price: [2.5], count: [4], total: [10] },
        series: [-2, -1, 3],
        greeting: 'Hello, Ada!',
        id: String(2n ** 60n),
        text: 'one\ntwo\n',
      })
    })

    it('sends and gets events, pictures, files and forms', async () => {
      const answer = await page.evaluate(async (url) => {
        const { chat, negative, reverse, mix } = serving.createClient<typeof service>(url)
        const events: unknown[] = []
        for await (const event of chat('one two').events()) events.push(event)
        const canvas = new OffscreenCanvas(8, 8)
        canvas.getContext('2d')?.fillRect(0, 0, 8, 8)
        const picture = await canvas.convertToBlob({ type: 'image/png' })
        const white = await createImageBitmap(await negative(picture))
        const back = (await reverse(new File(['abc'], 'ü.txt', { type: 'text/plain' }))) as File
        const { mean, note } = await mix({
          pictures: [picture],
          weights: [1],
          note: 'a\nb',
          options: { gain: 1 },
        })
        const first = { name: back.name, type: back.type, text: await back.text() }
        return {
          events,
          white: [white.width, white.height],
          back: first,
          mean: [...mean.data],
          note,
        }
      }, base)
      expect(answer).toEqual({
        events: [
          { data: 'one', event: 'word', id: '0' },
          { data: 'two', event: 'word', id: '1' },
          { data: 'two\nlines' },
        ],
        white: [8, 8],
        back: { name: 'rückwärts ü.txt', type: 'text/plain', text: 'cba' },
        mean: [0],
        note: 'a\nb',
      })
    })

    it('tells errors with their place, and ends with its signal', async () => {
      const answer = await page.evaluate(async (url) => {
        const { greet, slow } = serving.createClient<typeof service>(url)
        const failed = (call: Promise<unknown>) =>
          call.then(
            () => undefined as never,
            (reason) => reason as client.ServingError,
          )
        const error = await failed(greet({ name: '', born: 1990 }))
        const controller = new AbortController()
        const call = failed(slow(null, { signal: controller.signal }))
        controller.abort(new Error('enough'))
        return {
          code: error.code,
          reason: error.reason,
          path: error.path,
          ended: (await call).message,
        }
      }, base)
      expect(answer).toEqual({ code: 'bad_input', reason: 'schema', path: 'name', ended: 'enough' })
    })

    it('does nothing else', () => {
      expect(faults).toEqual([])
    })
  },
)
