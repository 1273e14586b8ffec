import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { RasterImage } from 'serving'
import svc from './service.ts'

before(() => svc.start())
after(() => svc.stop())

test('names the colour of a picture', async () => {
  const levels = Uint8Array.from({ length: 40 * 30 * 3 }, (_, i) => [20, 200, 30][i % 3])
  const body = await new RasterImage('RGB', 40, 30, levels).encode('image/png')
  const response = await svc.inject({
    path: '/color',
    body,
    headers: { 'content-type': 'image/png' },
  })
  assert.equal(response.status, 200)
  assert.equal(response.json(), 'green')
})

test('refuses what is not a picture', async () => {
  const response = await svc.inject({
    path: '/color',
    body: 'green',
    headers: { 'content-type': 'image/png' },
  })
  assert.equal(response.status, 400)
})
