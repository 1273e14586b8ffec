import { describe, expect, it } from 'vitest'
import { bigNumbersIn } from '../../../../src/core/text/json-numbers.ts'
import { measureJson, measureWithoutAddon } from '../../../../src/core/text/json-scan.ts'

const measures = { measureJson, measureWithoutAddon }

describe.each(Object.entries(measures))('%s', (_, measure) => {
  const mayHoldBig = (text: string) => measure(Buffer.from(text)).mayHoldBigNumbers

  it.each([
    '9007199254740993',
    '-9007199254740993',
    '1e999',
    '[1e999]',
    '[1,-9007199254740993]',
    '{"a":9007199254740993}',
    '{"a":9007199254740993,"b":1}',
    '["a",9007199254740993,"b"]',
    '[[9007199254740993],[]]',
    '{"a":{"b":1E400}}',
    '[1.5e+999,2]',
    `["${'x'.repeat(40)}",9007199254740993]`,
    '["\\"",9007199254740993]',
    '{"a" :\n          -9007199254740993\n          }',
    '[\t\t9007199254740993\n\n\n,1]',
    `[${'9'.repeat(310)}.5]`,
  ])('says that %s may hold a number that a double does not', (text) => {
    expect(bigNumbersIn(text)).toHaveLength(1)
    expect(mayHoldBig(text)).toBe(true)
  })

  it.each([
    '1',
    '[true,false,null]',
    '{"e1":"e999","n":"900719925474099","x":1.25}',
    '[123456789012345,-12345678901234]',
    '[1e-7,-2.5E-300,true,false]',
    '[0.12345678901234567,-0.30000000000000004,{"x":179.12345678901234567}]',
    '[\n            1234.5,\n            12345\n            ]',
  ])('says that %s holds none', (text) => {
    expect(mayHoldBig(text)).toBe(false)
  })

  it('misses none', () => {
    let seed = 7
    const random = (n: number) => {
      seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
      return (seed >>> 8) % n
    }
    const tokens = [
      '1',
      '-0.5',
      '1e5',
      '1E999',
      '12345678901234567',
      '-0.12345678901234567',
      '"a,1e9]"',
      '"\\\\"',
      'true',
      'null',
      '[]',
      '{}',
    ]
    let held = 0
    for (let n = 0; n < 3000; n++) {
      const items = Array.from({ length: 1 + random(6) }, () => {
        const token = tokens[random(tokens.length)]
        return random(3) === 0 ? `{"k${' '.repeat(random(20))}":${token}}` : token
      })
      const json = Buffer.from(`[${items.join([',', ', ', ` ,\n${' '.repeat(20)}`][random(3)])}]`)
      const numbers = bigNumbersIn(json.toString())
      if (numbers.length > 0) expect(measure(json).mayHoldBigNumbers, json.toString()).toBe(true)
      else held++
    }
    expect(held).toBeGreaterThan(500)
  })

  it.each<[string, number, number]>([
    ['1', 0, 0],
    ['{}', 1, 1],
    ['[]', 1, 0],
    ['{"a":[1,2,3,4],"b":{"c":"},{"}}', 7, 2],
    ['[{"a":1,"b":2},{"a":1,"b":2,"c":{"d":1,"e":2,"f":3,"g":4}},[]]', 13, 4],
  ])('of %s: %i values, and at most %i keys in an object', (text, values, widest) => {
    expect(measure(Buffer.from(text))).toMatchObject({ values, widest })
  })
})
