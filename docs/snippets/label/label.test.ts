import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import svc from './label.ts'

before(() => svc.start())
after(() => svc.stop())

test('knows a star', async () => {
  const body = readFileSync(new URL('./star.png', import.meta.url))
  const response = await svc.inject({
    path: '/label',
    body,
    headers: { 'content-type': 'image/png' },
  })
  assert.equal(response.json<{ label: string }>().label, 'star')
})

test('refuses what is not a picture', async () => {
  const response = await svc.inject({
    path: '/label',
    body: 'star',
    headers: { 'content-type': 'text/plain' },
  })
  assert.equal(response.status, 415)
})
