import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import svc from './service.ts'

before(() => svc.start())
after(() => svc.stop())

test('classifies flowers', async () => {
  const body = [
    [5.1, 3.5, 1.4, 0.2],
    [6.7, 3.1, 5.6, 2.4],
  ]
  const response = await svc.inject({ path: '/classify', body })
  assert.equal(response.status, 200)
  assert.deepEqual(response.json(), ['setosa', 'virginica'])
})

test('refuses rows of another length', async () => {
  const response = await svc.inject({ path: '/classify', body: [[5.1, 3.5]] })
  assert.equal(response.status, 400)
  assert.match(response.text(), /expected shape \(-1, 4\)/)
})
