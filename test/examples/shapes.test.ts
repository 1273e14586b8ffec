import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import svc from '../../examples/shapes/service.ts'

const folder = new URL('../../examples/shapes/', import.meta.url)
interface HeldOut {
  readonly picture: string
  readonly label: string
  readonly probabilities: readonly number[]
}
// As numpy computes them: examples/shapes/train.py.
const pictures: readonly HeldOut[] = JSON.parse(
  readFileSync(new URL('expected.json', folder), 'utf8'),
)

beforeAll(() => svc.start())
afterAll(() => svc.stop())

async function classify(picture: string) {
  const body = readFileSync(new URL(`held-out/${picture}`, folder))
  const response = await svc.inject({
    path: '/classify',
    body,
    headers: { 'content-type': 'image/png' },
  })
  expect(response.status).toBe(200)
  return response.json<{ shape: string; probabilities: Record<string, number> }>()
}

it("reads the held-out pictures, with numpy's probabilities, when all come at once", async () => {
  expect(new Set(pictures.map(({ label }) => label)).size).toBe(5)
  const answers = await Promise.all(pictures.map(({ picture }) => classify(picture)))
  answers.forEach(({ shape, probabilities }, i) => {
    expect({ picture: pictures[i].picture, shape }).toEqual({
      picture: pictures[i].picture,
      shape: pictures[i].label,
    })
    Object.values(probabilities).forEach((odds, label) => {
      expect(Math.abs(odds - pictures[i].probabilities[label])).toBeLessThan(1e-5)
    })
  })
})
