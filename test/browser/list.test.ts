/** The list of APIs on the page: methods, paths, what the filter finds, live streams. */
import { beforeEach, describe, expect, it } from 'vitest'
import { chromium, servePage } from './browser.ts'
import svc from './service.ts'

describe.skipIf(chromium === undefined)('the list of APIs in Chromium (needs chromium)', () => {
  const on = servePage(svc, '/v1')
  beforeEach(async () => {
    await on.page.goto(`${on.base}/docs`)
    await on.page.waitForSelector('nav a')
  })
  const shown = () => on.texts('nav section:not([hidden]) li:not([hidden])')

  it('shows the method and the path of each', async () => {
    expect((await on.texts('nav ul[aria-label="/orders"] a')).toSorted()).toEqual([
      'DELETE /orders/{id}',
      'GET /orders/{id}',
      'PATCH /orders/{id}/state',
      'PUT /orders/{id}',
    ])
    expect(await on.texts('nav ul[aria-label=JSON] a')).toEqual(['POST /orders', 'POST /values'])
  })

  it('calls live streams live', async () => {
    expect(await on.texts('nav ul[aria-label="Live streams"] a')).toEqual(['LIVE /upper'])
    await on.open('upper')
    expect(await on.textOf('.route')).toBe('LIVE /v1/upper')
  })

  it.each([
    ['GET', ['GET /orders/{id}']],
    ['get /orders', ['GET /orders/{id}']],
    ['/state', ['PATCH /orders/{id}/state']],
    ['websocket', ['LIVE /upper']],
    ['finds an order', ['GET /orders/{id}']],
    ['patch_orders', ['PATCH /orders/{id}/state']],
  ])('finds by the filter %s', async (text, wanted) => {
    await on.type('nav input', text)
    expect(await shown()).toEqual(wanted)
  })
})
