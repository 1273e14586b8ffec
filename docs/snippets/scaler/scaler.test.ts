import assert from 'node:assert/strict'
import { test } from 'node:test'
import svc from './scaler.ts'

test('doubles each number', async () => {
  const response = await svc.inject({ path: '/scale', body: [[1, 2, 3, 4]] })
  assert.equal(response.status, 200)
  assert.deepEqual(response.json(), [[2, 4, 6, 8]])
})

test('refuses another shape', async () => {
  const response = await svc.inject({ path: '/scale', body: [[1, 2]] })
  assert.equal(response.status, 400)
  assert.match(response.text(), /expected shape \(-1, 4\)/)
})
