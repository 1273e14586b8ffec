import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseText } from '../../src/core/text/parse-text.ts'
import { io, Service } from '../../src/index.ts'

/** The keys of an object's text by its own reading, since JSON.parse itself is in question. */
const pairs = (keys: readonly string[]) =>
  `{${keys.map((key, i) => `${JSON.stringify(key)}:${i}`).join()}}`

describe('keys with escapes', () => {
  const key = fc.oneof(
    fc.constantFrom('\\', '\n', '"', 'a', 'a\\', 'a\n', '__proto__', '1', ' '),
    fc.string(),
  )

  it('are those of the text, whatever texts came before', () => {
    const lists = fc
      .uniqueArray(key, { maxLength: 5 })
      .filter((keys) => !keys.some((each) => /^\d+$/.test(each)))
    fc.assert(
      fc.property(lists, (keys) => {
        const value = parseText(`[${pairs(keys)}]`) as object[]
        expect(Object.keys(value[0])).toEqual(keys)
        expect(Object.values(value[0])).toEqual(keys.map((_, i) => i))
      }),
      { numRuns: 5000 },
    )
  })

  it('may be twice in one object, written in several ways, and hold objects', () => {
    parseText('{"a":0,"\\\\":0}')
    const value = parseText('{"a":0,"\\n":1,"\\u000a" : {"\\"":[{"\\u0062":2,"b":3}]}}') as object
    expect(Object.entries(value)).toEqual([
      ['a', 0],
      ['\n', { '"': [{ b: 3 }] }],
    ])
  })

  it('refuses what JSON.parse refuses', () => {
    for (const text of [
      '{"\\n":1',
      '{"\\x":1}',
      '{"\\n":1}}',
      '{"a\\',
      '"\\',
      '{"\\n"',
      '{"\\n":',
    ]) {
      expect(() => parseText(text), text).toThrow(SyntaxError)
    }
  })

  it('reach functions as they are, after those of another client', async () => {
    const service = new Service('keys')
    service.api(
      { name: 'echo', input: new io.JSON({ bigNumbers: 'bigint' }), output: new io.JSON() },
      (value) => Object.keys(value as object),
    )
    const post = async (body: string) =>
      (
        await service.inject({
          path: '/echo',
          body,
          headers: { 'content-type': 'application/json' },
        })
      ).json()
    expect(await post('{"h":0,"\\\\":0}')).toEqual(['h', '\\'])
    expect(await post('{"h":0,"\\n":0}')).toEqual(['h', '\n'])
    expect(await post('{"h":12345678901234567890,"\\"":0}')).toEqual(['h', '"'])
  })
})
