import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import svc from './service.ts'

before(() => svc.start())
after(() => svc.stop())

test('continues a text', async () => {
  const headers = { 'content-type': 'text/plain' }
  const response = await svc.inject({ path: '/complete', body: 'it is', headers })
  assert.equal(response.status, 200)
  assert.equal(response.text(), 'found ')
})
