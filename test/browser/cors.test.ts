/**
 * A page of another origin that calls every descriptor, and Connect.
 */

import { createHash } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, Page } from 'puppeteer-core'
import type * as client from 'serving/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { apiKey } from '../../src/api/auth/index.ts'
import type { Listener } from '../../src/engine/options.ts'
import { io, Service } from '../../src/index.ts'
import { serve } from '../../src/server/listener.ts'
import type * as service from '../client/service.ts'
import svc from '../client/service.ts'
import { engines } from '../engines.ts'
import { bundleClient, packedProject } from '../supply/packed.ts'
import { chromium, launch } from './browser.ts'

/** What the page's script puts into the window. */
declare const serving: typeof client

const keyed = new Service('keyed', {
  auth: apiKey({
    keys: [{ name: 'page', hash: createHash('sha256').update('demo').digest('hex') }],
  }),
})
keyed.api({ input: new io.Text(), output: new io.Text() }, function hello(name, ctx) {
  return `Hello ${name}, of ${ctx.state.caller?.name}`
})

const project = chromium === undefined ? '' : packedProject()

describe.skipIf(chromium === undefined).each(engines)(
  'a page of another origin in Chromium on %s (needs chromium)',
  (engine) => {
    let browser: Browser
    let pages: Server
    const listeners: Listener[] = []
    let page: Page
    let open: string
    let locked: string
    let closed: string

    beforeAll(async () => {
      pages = createServer((_, res) =>
        res.setHeader('content-type', 'text/html').end('<!doctype html><title>page'),
      )
      await new Promise<void>((resolve) => pages.listen(0, '127.0.0.1', resolve))
      const corsOrigin = `http://127.0.0.1:${(pages.address() as AddressInfo).port}`
      const listen = async (what: Service, origin: string) => {
        const listener = await serve(what, {
          port: 0,
          host: '127.0.0.1',
          engine,
          corsOrigin: origin,
          logLevel: 'silent',
        })
        listeners.push(listener)
        return `http://127.0.0.1:${listener.port}`
      }
      open = await listen(svc, corsOrigin)
      locked = await listen(keyed, corsOrigin)
      closed = await listen(keyed, 'https://other.example.org')
      browser = await launch()
      page = await browser.newPage()
      await page.goto(corsOrigin)
      await page.evaluate((await bundleClient(project, 'esbuild')).text)
    }, 60_000)
    afterAll(async () => {
      await browser?.close()
      await Promise.all(listeners.map((listener) => listener.close()))
      pages?.close()
    })

    it('calls every descriptor', async () => {
      const answer = await page.evaluate(async (url) => {
        const api = serving.createClient<typeof service>(url)
        let text = ''
        for await (const piece of api.words('one two')) text += piece
        const events: unknown[] = []
        for await (const event of api.chat('one two').events()) events.push(event.data)
        const canvas = new OffscreenCanvas(8, 8)
        canvas.getContext('2d')?.fillRect(0, 0, 8, 8)
        const picture = await canvas.convertToBlob({ type: 'image/png' })
        const white = await createImageBitmap(await api.negative(picture))
        const { mean } = await api.mix({
          pictures: [picture],
          weights: [1],
          note: 'a',
          options: { gain: 1 },
        })
        return {
          array: [...(await api.double({ shape: [2], data: Float32Array.of(1, 2) })).data],
          frame: await api.total({ item: ['tea'], price: [2.5], count: [4] }),
          series: await api.center([1, 2, 6]),
          json: (await api.greet({ name: 'Ada', born: 1990 })).greeting,
          text,
          events,
          image: [white.width, white.height],
          file: await (
            (await api.reverse(new File(['abc'], 'a.txt', { type: 'text/plain' }))) as File
          ).text(),
          form: [...mean.data],
        }
      }, open)
      expect(answer).toEqual({
        array: [2, 4],
        frame: { item: ['tea'], price: [2.5], count: [4], total: [10] },
        series: [-2, -1, 3],
        json: 'Hello, Ada!',
        text: 'one\ntwo\n',
        events: ['one', 'two', 'two\nlines'],
        image: [8, 8],
        file: 'cba',
        form: [0],
      })
    })

    it('calls Connect, and reads errors, refusals and request ids', async () => {
      const answer = await page.evaluate(
        async (urls) => {
          const post = async (url: string, body: string, headers = {}) => {
            const response = await fetch(url, { method: 'POST', headers, body })
            const value = (await response.json()) as {
              readonly code?: string
              readonly text?: string
            }
            return [
              response.status,
              value.code ?? value.text,
              typeof response.headers.get('x-request-id'),
            ]
          }
          const json = { 'content-type': 'application/json' }
          const call = `${urls.locked}/serving.v1.ServingService/Call`
          const message = JSON.stringify({ apiName: 'hello', text: 'you' })
          const text = { 'content-type': 'text/plain' }
          const hello = await fetch(`${urls.locked}/hello`, {
            method: 'POST',
            headers: { ...text, 'x-api-key': 'demo' },
            body: 'you',
          })
          return {
            connect: await post(call, message, {
              ...json,
              'x-api-key': 'demo',
              'connect-protocol-version': '1',
            }),
            refused: await post(call, message, json),
            hello: await hello.text(),
            unauthorized: await post(`${urls.locked}/hello`, 'you', text),
            absent: await post(`${urls.locked}/nowhere`, 'you', text).catch(String),
            method: await fetch(`${urls.locked}/hello`).then((response) => response.status),
            other: await post(`${urls.closed}/hello`, 'you', {
              ...text,
              'x-api-key': 'demo',
            }).catch(String),
          }
        },
        { locked, closed },
      )
      expect(answer).toMatchObject({
        connect: [200, 'Hello you, of page', 'object'],
        refused: [401, 'unauthenticated', 'string'],
        hello: 'Hello you, of page',
        unauthorized: [401, 'unauthorized', 'string'],
        absent: [404, 'not_found', 'string'],
        method: 405,
        other: expect.stringContaining('Failed to fetch'),
      })
    })
  },
)
