import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import svc from '../../examples/all/service.ts'

const read = (name: string) => readFileSync(new URL(`../../examples/all/${name}`, import.meta.url))
const type = (name: string) => ({ 'content-type': name })

it('each descriptor has an API that answers', async () => {
  const ask = async (path: string, body: unknown, headers = {}) => {
    const response = await svc.inject({ path, body: body as never, headers })
    expect({ path, status: response.status }).toEqual({ path, status: 200 })
    return response
  }
  expect((await ask('/double', [1, 2.5])).json()).toEqual([2, 5])
  const orders = await ask('/total', read('orders.csv'), {
    ...type('text/csv'),
    accept: 'text/csv',
  })
  expect(orders.text()).toMatch(/^item,price,count,total\n/)
  expect((await ask('/center', [1, 2, 6])).json()).toEqual([-2, -1, 3])
  expect((await ask('/greet', { name: 'Ada', born: 1915 })).json()).toEqual({
    greeting: 'Hello, Ada!',
    adult: true,
  })
  expect((await ask('/words', 'one two', type('text/plain'))).text()).toBe('one\ntwo\n')
  const picture = read('pattern.png')
  const negative = await ask('/negative', picture, type('image/png'))
  const again = await ask('/negative', negative.body, type('image/png'))
  expect((await ask('/negative', again.body, type('image/png'))).body).toEqual(negative.body)
  const file = await ask('/digest', picture, type('application/octet-stream'))
  expect(file.json()).toMatchObject({
    bytes: picture.length,
    sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
  })
  const form = new FormData()
  form.append('picture', new Blob([picture], { type: 'image/png' }))
  form.append('box', '[0, 0, 10, 10]')
  const request = new Request('http://localhost', { method: 'POST', body: form })
  const body = new Uint8Array(await request.arrayBuffer())
  const level = await ask('/mean_level', body, type(request.headers.get('content-type') ?? ''))
  expect(level.json()).toMatchObject({ pixels: 100 })
})
