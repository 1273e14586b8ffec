import { describe, expect, it } from 'vitest'
import { contentToJson } from '../../../src/messages/content-types.ts'
import { decodeResponse, encodeResponse } from '../../../src/messages/envelope.ts'

describe('an answer', () => {
  it.each(['json', 'text'] as const)('has well-formed text: as %s', (field) => {
    for (const text of ['', 'a', '\ud800', `\udc00${'é'.repeat(70_000)}\ud800`]) {
      const read = decodeResponse(encodeResponse({ field, message: text }))
      expect(read).toEqual({ field, message: text.toWellFormed() })
    }
  })

  it('has every key of an object, and none of those without a value', () => {
    const message = {
      ...JSON.parse('{"__proto__":null}'),
      a: [1, { b: '2' }, true],
      [`${'k'.repeat(100_000)}`]: 1,
    }
    const read = decodeResponse(encodeResponse({ field: 'json', message }))
    expect(JSON.stringify(contentToJson(read as never))).toBe(JSON.stringify({ json: message }))
  })
})
