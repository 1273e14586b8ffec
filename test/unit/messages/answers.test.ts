import fc from 'fast-check'
import { io } from 'serving'
import { describe, expect, it } from 'vitest'
import { decodeResponse, encodeResponse, encodeResponseInSlices } from '../../../src/messages/envelope.ts'
import { many, turnsOf } from '../descriptors/event-loop-turns.ts'

const answered = async (message: unknown) => await encodeResponseInSlices({ field: 'json', message })

describe('a JSON value as an answer', () => {
  it('has the bytes of one that is written at once, whatever it is', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue({ maxDepth: 5 }), async (message) => {
        expect(await answered(message)).toEqual(encodeResponse({ field: 'json', message }))
      }),
    )
    const message = { a: many(9000, (i) => [i, { b: `${i}` }]), ...JSON.parse('{"__proto__":null}'), c: undefined }
    expect(await answered(message)).toEqual(encodeResponse({ field: 'json', message }))
  })

  it.each([
    ['records', many(100_000, (i) => ({ a: i, b: [`x${i}`, null, true] }))],
    ['numbers', many(500_000, (i) => i)],
    ['an object', { list: [Object.fromEntries(many(90_000, (i) => [`k${i}`, i]))] }],
  ])('is made and written in slices: %s', async (_name, value) => {
    const made = Promise.resolve(new io.JSON().toProto(value))
    expect(await turnsOf(made)).toBeGreaterThan(3)
    const message = await made
    expect(message).toEqual(value)
    const written = Promise.resolve(answered(message))
    expect(await turnsOf(written)).toBeGreaterThan(3)
    expect(decodeResponse(await written)).toEqual({ field: 'json', message: value })
  })

  it.each(['json', 'text'] as const)('is written in slices: a text as %s', async (field) => {
    const message = 'é😀'.repeat(2_000_000)
    const written = Promise.resolve(encodeResponseInSlices({ field, message }))
    expect(await turnsOf(written)).toBeGreaterThan(3)
    expect((await written).equals(encodeResponse({ field, message }))).toBe(true)
    for (const short of ['', 'a', '\ud800', `\udc00${'é'.repeat(70_000)}\ud800`]) {
      const made = await encodeResponseInSlices({ field, message: short })
      expect(made).toEqual(encodeResponse({ field, message: short }))
    }
    const list = ['', message, 1]
    expect((await answered(list)).equals(encodeResponse({ field: 'json', message: list }))).toBe(true)
  })

  it('may have a key of megabytes', async () => {
    const value = { [`${'k'.repeat(2_000_000)}`]: many(70_000, (i) => i) }
    expect(await new io.JSON().toProto(value)).toEqual(value)
  })
})
