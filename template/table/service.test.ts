import assert from 'node:assert/strict'
import { test } from 'node:test'
import svc from './service.ts'

test('adds a price to each row', async () => {
  const response = await svc.inject({ path: '/price', body: [{ area: 80, rooms: 3 }] })
  assert.equal(response.status, 200)
  assert.deepEqual(response.json(), [{ area: 80, rooms: 3, price: 295000 }])
})

test('answers CSV with CSV', async () => {
  const headers = { 'content-type': 'text/csv', accept: 'text/csv' }
  const response = await svc.inject({ path: '/price', body: 'area,rooms\n80,3\n', headers })
  assert.equal(response.text(), 'area,rooms,price\n80.0,3,295000.0\n')
})

test('names a missing column', async () => {
  const response = await svc.inject({ path: '/price', body: [{ area: 80 }] })
  assert.equal(response.status, 400)
  assert.match(response.text(), /rooms/)
})
