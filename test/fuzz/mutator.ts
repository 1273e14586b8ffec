/**
 * Damage of many kinds, drawn from a seeded generator.
 * @module
 */

/** Numbers from 0 up to 1. */
export type Random = () => number

/** A whole number from 0 up to but not including `limit`. */
export const below = (random: Random, limit: number): number => Math.floor(random() * limit)

/** One element of a list. */
export const oneOf = <T>(random: Random, list: readonly T[]): T => list[below(random, list.length)]

const loudBytes = [0x00, 0x01, 0x7f, 0x80, 0xfe, 0xff]
const loudWords = [0, 1, -1, 0x7fffffff, -0x80000000, 0x10000, 0x7fff, 100_000_000]

/** Returns a copy with one to four kinds of damage between `from` and `to`; the rest and the length stay. */
export function spoilt(random: Random, body: Uint8Array, from = 0, to = body.length): Buffer {
  const bad = Buffer.from(body)
  const span = Math.max(0, to - from)
  for (let left = 1 + below(random, 4); left > 0 && span > 0; left--) {
    const at = from + below(random, span)
    const kind = below(random, 5)
    if (kind === 0) bad[at] ^= 1 << below(random, 8)
    else if (kind === 1) bad[at] = below(random, 256)
    else if (kind === 2) bad[at] = oneOf(random, loudBytes)
    else if (kind === 3 && at + 4 <= to) bad.writeInt32LE(oneOf(random, loudWords), at)
    else bad.fill(oneOf(random, loudBytes), at, Math.min(to, at + below(random, 64)))
  }
  return bad
}

/**
 * Returns a copy that may be longer or shorter: cut, doubled, with pieces taken out, put in, moved, or exchanged with
 * another body.
 */
export function rebuilt(random: Random, body: Uint8Array, other: Uint8Array): Buffer {
  const at = below(random, body.length + 1)
  const size = below(random, Math.min(256, body.length) + 1)
  const head = body.subarray(0, at)
  switch (below(random, 6)) {
    case 0:
      return Buffer.from(head)
    case 1:
      return Buffer.concat([head, body.subarray(at + size)])
    case 2:
      return Buffer.concat([head, body.subarray(0, size), body.subarray(at)])
    case 3:
      return Buffer.concat([head, Buffer.alloc(size, oneOf(random, loudBytes)), body.subarray(at)])
    case 4:
      return Buffer.concat([head, other.subarray(Math.min(at, other.length))])
    default: {
      const from = below(random, other.length + 1)
      return Buffer.concat([head, other.subarray(from, from + size), body.subarray(at + size)])
    }
  }
}

const tokens = [
  ...[
    '[',
    ']',
    '{',
    '}',
    ',',
    ':',
    '"',
    "'",
    ';',
    '\n',
    '\r\n',
    '\0',
    '\\',
    '\\u0000',
    '\\ud800',
    '\ufeff',
    '--',
    '=',
    '%00',
  ],
  ...[
    'null',
    'true',
    'NaN',
    '-Infinity',
    '-',
    '1e999',
    '-0',
    '0.1e-400',
    '9223372036854775808',
    '18446744073709551616',
    '"x"',
  ],
  ...[
    '__proto__',
    '"__proto__":',
    '"constructor":{},',
    '[[[[[[[[',
    '{"a":',
    'é',
    '\udcff',
    '1_000',
    '0x10',
    '123456789012345678901234567890',
  ],
]

/** Returns a copy with words of JSON, CSV and forms put in, taken out or repeated at random places. */
export function reworded(random: Random, body: Uint8Array): Buffer {
  let text = Buffer.from(body)
  for (let left = 1 + below(random, 4); left > 0; left--) {
    const at = below(random, text.length + 1)
    const word = Buffer.from(
      oneOf(random, tokens).repeat(random() < 0.05 ? 1 + below(random, 2000) : 1),
    )
    text = Buffer.concat([
      text.subarray(0, at),
      word,
      text.subarray(at + (random() < 0.5 ? 0 : word.length)),
    ])
  }
  return text
}
