import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runAtOnce } from '../../../../src/core/memory/slices.ts'
import { buildJson } from '../../../../src/core/text/json-build.ts'

const target = { name: 'JSON', maxKeys: Number.POSITIVE_INFINITY }

/** Returns what JSON.parse and the sliced parser make of a text, as one comparable value each. */
function outcomes(text: string, work: number, bytes = 1 << 20): readonly [unknown, unknown] {
  const outcome = (parse: () => unknown) => {
    try {
      // Text as well: deep equality does not look at the order of keys.
      const value = parse()
      return { value, text: JSON.stringify(value) }
    } catch (error) {
      return (error as Error).name
    }
  }
  return [
    outcome(() => JSON.parse(text)),
    outcome(() => runAtOnce(buildJson(Buffer.from(text), target, undefined, { work, bytes }))),
  ]
}

function expectSame(text: string): void {
  for (const work of [1, 3, 7, 30]) {
    const [expected, actual] = outcomes(text, work)
    expect(actual, `${text} in pieces of ${work}`).toEqual(expected)
  }
}

describe('buildJson', () => {
  it.each([
    '[]',
    ' [ ] ',
    '{}',
    '1',
    '"a,b"',
    'null',
    '',
    ' ',
    '[1,2,3,4,5,6,7,8]',
    '[[1,2],[3,4],[5,6]]',
    '[[[1,2],[3]],[[4]],5,[6]]',
    '{"a":1,"b":{"c":[1,2,{"d":3}],"e":4},"f":5}',
    '{"__proto__":1,"a":{"__proto__":{"x":[1,2,3]}},"b":2,"__proto__":[1,2]}',
    '{"a":1,"b":2,"a":3,"c":{"x":1,"y":2},"c":4,"d":{"x":1,"y":2},"d":{"z":1}}',
    '{"2":1,"1":2,"b":3,"0":[1,2],"a":4}',
    '[{"a":[{"b":[{"c":[1,2]}]}]},1]',
    '["\\"],[",{"\\\\":"}"},"\\u005d\\",",1]',
    '["é",["ü","\ud83d\ude00",1],"\\ud800"]',
    ' [ 1 , [ 2 , 3 ] , { "a" : [ 4 , 5 ] , "b" : 6 } , 7 ] \n',
  ])('gives what JSON.parse gives for %s', (text) => {
    expectSame(text)
  })

  it.each([
    '[1,2,]',
    '[,1]',
    '[1,,2]',
    '[1 2]',
    '[1,2}',
    '{"a":1]',
    '[[1,2]',
    '[1,2]]',
    '[1,2] 3',
    '[1,2]\u00a0',
    '[1,[2,3]4,5]',
    '[1,4[2,3],5]',
    '[[1,2][3,4]]',
    '[[1,2],]',
    '[[1,2],[3,4],]',
    '{"a":5[1,2],"b":1}',
    '{"a":[1,2]"b":3}',
    '{"a":[1,2],}',
    '{"a":[1,2],"b"}',
    '{"a":[1,2],"b":}',
    '{"a" [1,2],"b":3}',
    '{[1,2],"b":3}',
    '{"a":"b":[1,2],"c":1}',
    '{"a":1,"b"[1,2]}',
    '{a:[1,2],"b":1}',
    '[1,{2,3},4]',
    '["a,b',
    '["a\\",1,2]',
    '["a\nb",1,2]',
    '[01,2,3]',
    '[1,2,"\\x",3]',
    '1,2',
    ',',
    ']',
    '[\u00a01,2]',
    '[1,\ufeff2]',
    '{"a":1,"b":[1,2],\u00a0"c":1}',
  ])('refuses %s, as JSON.parse does', (text) => {
    expect(() => JSON.parse(text)).toThrow(SyntaxError)
    expectSame(text)
  })

  it('agrees with JSON.parse on any JSON', () => {
    const space = fc.constantFrom(0, 1, '\t')
    fc.assert(
      fc.property(fc.json({ maxDepth: 5 }), fc.jsonValue({ maxDepth: 5 }), space, (text, value, indent) => {
        expectSame(text)
        expectSame(JSON.stringify(value, null, indent))
      }),
      { numRuns: 300 },
    )
  })

  it('agrees with JSON.parse on texts of its characters and on JSON with a character changed', () => {
    const character = fc.constantFrom(...'[]{},:"\\ 01-.eatrufn\u00a0é')
    fc.assert(fc.property(fc.string({ unit: character, maxLength: 20 }), expectSame), { numRuns: 2000 })
    fc.assert(
      fc.property(fc.json({ maxDepth: 4 }), fc.nat(), fc.option(character), (text, at, other) => {
        const place = at % text.length
        expectSame(text.slice(0, place) + (other ?? '') + text.slice(place + 1))
      }),
      { numRuns: 1500 },
    )
  })

  it('finds the end of long strings with escaped quotes in them', () => {
    for (const length of [60, 63, 64, 65, 200]) {
      for (const tail of ['', '\\"', '\\\\', '\\\\\\"', '\\\\\\\\'])
        expectSame(`["${'x'.repeat(length)}${tail}",[1,2],3]`)
    }
  })

  it('gives what JSON.parse gives for strings that are longer than a piece', () => {
    const strings = ['x', 'é', '😀', '\\n', '\\"', '\\\\', '\\u00e9', '\\ud83d\\ude00', 'a\\\\\\"', '\\/é'].map(
      (unit) => unit.repeat(50),
    )
    const texts = strings.flatMap((text) => [
      `"${text}"`,
      ` "${text}" `,
      `["${text}"]`,
      `[1,"${text}",2]`,
      `{"a":["${text}",[1]],"b":"${text}","a":1,"c":{"d":"${text}"}}`,
      `{"${text}":1,"${text}x" : "${text}"}`,
      `["${text}" 1]`,
      `["${text}""${text}"]`,
      `["${text}"1,2]`,
      `[[1]"${text}"]`,
      `[1 "${text}"]`,
      `{"a" "${text}"}`,
      `{"${text}"}`,
      `"${text}`,
      `"${text}",1`,
      `["${text}\\"]`,
      `["${text}\\x${text}"]`,
      `["${text}\\u12"]`,
      `["${text}\n"]`,
    ])
    for (const text of texts) {
      for (const bytes of [1, 2, 5, 16, 64, 100]) {
        const [expected, actual] = outcomes(text, 1000, bytes)
        expect(actual, `${text} in pieces of ${bytes} bytes`).toEqual(expected)
      }
    }
  })

  it.each([
    ['letters', 'abc'],
    ['escaped quotes', '\\"'],
    ['characters of two bytes', 'é'],
  ])('yields within a long string of %s', (_, unit) => {
    const text = JSON.stringify(JSON.parse(`"${unit.repeat(1_000_000)}"`))
    const slices = buildJson(Buffer.from(`[0,${text}]`), target)
    let yields = 0
    let step = slices.next()
    for (; !step.done; step = slices.next()) yields++
    expect(step.value).toEqual([0, JSON.parse(text)])
    // Pieces of 256 KiB, once to find its end and once to parse it.
    expect(yields).toBeGreaterThan((2 * text.length) / (1 << 18) - 2)
  })

  it('yields between pieces, of which none is longer than asked for', () => {
    const text = `[${Array.from({ length: 10_000 }, (_, i) => i).join()}]`
    const slices = buildJson(Buffer.from(text), target, undefined, { work: 100, bytes: 1 << 20 })
    let yields = 0
    while (!slices.next().done) yields++
    expect(yields).toBeGreaterThanOrEqual(99)
  })
})
