import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { addon } from '../../src/core/native/add-on.ts'
import { bigNumbersIn } from '../../src/core/text/json-numbers.ts'
import { measureJson, measureWithoutAddon } from '../../src/core/text/json-scan.ts'

const blanks = fc.constantFrom('', '', ' ', '\n', ' '.repeat(63))
const scalars = fc.oneof(
  fc.json({ maxDepth: 0 }),
  fc.constantFrom(
    '"\\\\"',
    '"\\""',
    `"${'\\\\'.repeat(31)}\\""`,
    '"[{,"',
    '"é😀"',
    '"1e5"',
    `"${'x'.repeat(130)}"`,
  ),
  fc.constantFrom(
    '12345678901234567',
    '-0.12345678901234567',
    '1e400',
    '1E-400',
    `${'7'.repeat(70)}`,
    'true',
    'false',
  ),
)
const { value } = fc.letrec<{ value: string; list: string; object: string }>((tie) => ({
  value: fc.oneof({ maxDepth: 5 }, scalars, tie('list'), tie('object')),
  list: fc
    .tuple(fc.array(tie('value'), { maxLength: 8 }), blanks)
    .map(([items, gap]) => `[${gap}${items.join(`${gap},`)}]`),
  object: fc
    .tuple(fc.array(tie('value'), { maxLength: 8 }), blanks)
    .map(
      ([items, gap]) =>
        `{${items.map((item, i) => `"k${i}":${gap}${item}`).join(`,${gap}`)}${gap}}`,
    ),
}))

describe.skipIf(addon === undefined)('the measure of a JSON text by the add-on', () => {
  it('is that of JavaScript, and misses no number that a double does not hold', () => {
    fc.assert(
      fc.property(value, fc.nat(70), (text, shift) => {
        const json = Buffer.from(' '.repeat(shift) + text)
        JSON.parse(json.toString())
        const { mayHoldBigNumbers, ...counts } = measureJson(json)
        const { mayHoldBigNumbers: mayHoldHere, ...countsHere } = measureWithoutAddon(json)
        expect(counts).toEqual(countsHere)
        if (mayHoldBigNumbers) expect(mayHoldHere).toBe(true)
        if (bigNumbersIn(json.toString()).length > 0) expect(mayHoldBigNumbers).toBe(true)
      }),
      { numRuns: 3000 },
    )
  })

  it('has the place of the first bracket that is too deep, wherever it lies', () => {
    for (let shift = 0; shift < 130; shift++) {
      const json = Buffer.from(`${'0,'.repeat(shift)}${'[{"a":'.repeat(64)}{"b":[1,2]}`)
      for (const measure of [measureJson, measureWithoutAddon])
        expect(measure(json).deepAt).toBe(2 * shift + 6 * 64)
    }
  })

  it('takes no number in a string, and no fraction or negative exponent, for a big one', () => {
    for (const text of [
      '{"e1":"1e999","n":"9007199254740993","x":1.25}',
      `{"text":"${'9'.repeat(300)}","more":[1,2,3]}`,
      `[${'0.12345678901234567890,-1.5e-7,'.repeat(40)}1]`,
    ]) {
      expect(measureJson(Buffer.from(text)).mayHoldBigNumbers, text).toBe(false)
    }
  })
})
