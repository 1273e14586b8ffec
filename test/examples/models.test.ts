import { readFileSync } from 'node:fs'
import { Transformer } from '@napi-rs/image'
import type { Service } from 'serving'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import digits from '../../examples/digits/service.ts'
import models from '../../examples/models/service.ts'

const heldOut = new URL('../../examples/digits/held-out/', import.meta.url)
const { rows: pictures } = JSON.parse(readFileSync(new URL('expected.json', heldOut), 'utf8')) as {
  rows: readonly {
    readonly picture: string
    readonly actual: number
    readonly probabilities: readonly number[]
  }[]
}
const read = (name: string) => readFileSync(new URL(name, heldOut))

interface Answer {
  readonly digit: string
  readonly probabilities: readonly number[]
}

async function post(svc: Service, name: string, contentType: string, body: Buffer) {
  const response = await svc.inject({
    path: `/${name}`,
    headers: { 'content-type': contentType },
    body,
  })
  return { status: response.status, value: response.json<Answer>() }
}

// Both have the same runner, which starts once.
beforeAll(() => Promise.all([digits.start(), models.start()]))
afterAll(() => Promise.all([digits.stop(), models.stop()]))

describe('classify_digit', () => {
  it("reads the held-back pictures, with scikit-learn's probabilities", async () => {
    for (const { picture, actual, probabilities } of pictures) {
      const { status, value } = await post(digits, 'classify_digit', 'image/png', read(picture))
      expect({ picture, status, digit: value.digit }).toEqual({
        picture,
        status: 200,
        digit: actual,
      })
      expect(Object.keys(value)).toEqual(['digit', 'probabilities'])
      expect(value.probabilities).toHaveLength(10)
      probabilities.forEach((wanted, i) => {
        expect(Math.abs(value.probabilities[i] - wanted)).toBeLessThan(1e-5)
      })
    }
  })

  it('reads the same pictures as JPEG, and nearly as surely', async () => {
    for (const { picture, actual } of pictures) {
      const jpeg = await new Transformer(read(picture)).jpeg(90)
      const { value } = await post(digits, 'classify_digit', 'image/jpeg', jpeg)
      expect({ picture, digit: value.digit }).toEqual({ picture, digit: actual })
    }
  })

  it('refuses a picture of one colour, and what is no picture', async () => {
    const blank = Buffer.concat([Buffer.from('P5\n9 9\n255\n'), Buffer.alloc(81, 200)])
    const png = await new Transformer(blank).png()
    expect(await post(digits, 'classify_digit', 'image/png', png)).toMatchObject({
      status: 400,
      value: { code: 'bad_input', detail: expect.stringContaining('expected a digit') },
    })
    expect(await post(digits, 'classify_digit', 'image/png', Buffer.from('seven'))).toMatchObject({
      status: 400,
    })
  })

  it('answers many at once, each with its own digit', async () => {
    const answers = await Promise.all(
      pictures.map(({ picture }) => post(digits, 'classify_digit', 'image/png', read(picture))),
    )
    expect(answers.map(({ value }) => value.digit)).toEqual(pictures.map(({ actual }) => actual))
  })
})

describe('the service of both models', () => {
  it('has the APIs of both', () => {
    expect([...models.apis.keys()]).toEqual([
      'classify',
      'classify_flower',
      'describe',
      'classify_digit',
    ])
  })

  it('answers for flowers and for digits', async () => {
    expect(
      await post(models, 'classify', 'application/json', Buffer.from('[[5.1, 3.5, 1.4, 0.2]]')),
    ).toEqual({
      status: 200,
      value: ['setosa'],
    })
    const [{ picture, actual }] = pictures
    expect((await post(models, 'classify_digit', 'image/png', read(picture))).value.digit).toBe(
      actual,
    )
  })
})
