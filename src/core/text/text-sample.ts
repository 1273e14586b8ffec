/** Samples of texts and numbers that keep the rules of a JSON Schema. Imports nothing: the page has it, too. @module */

interface Rules {
  readonly [keyword: string]: unknown
}

const byFormat: Readonly<Record<string, string>> = {
  'date-time': '2024-01-31T12:00:00Z',
  date: '2024-01-31',
  time: '12:00:00Z',
  duration: 'PT1H',
  email: 'someone@example.com',
  uri: 'https://example.com/',
  uuid: '3fa85f64-5717-4562-b3fc-2c963f66afa6',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  hostname: 'example.com',
}

/** How often parts of a pattern that may repeat are repeated, until the text is long enough. */
const repeats = [0, 1, 2, 4, 8, 16, 32]

/** @returns a text that keeps length and pattern; undefined if no simple one fits. */
export function textSample(schema: Rules): string | undefined {
  const { format, pattern, minLength, maxLength } = schema
  const known = byFormat[String(format)]
  const plain = 'text'
    .padEnd(Number(minLength ?? 0), 'x')
    .slice(0, Number(maxLength ?? Number.POSITIVE_INFINITY))
  const fits = (text: string | undefined): text is string =>
    text !== undefined && textFault(schema, text) === undefined
  const [first] = [known, plain].filter((text) => text !== undefined)
  if (fits(first)) return first
  if (typeof pattern !== 'string') return undefined
  for (const extra of repeats) {
    const text = matchOf(pattern, extra)
    if (fits(text)) return text
  }
  return undefined
}

/** @returns what a text lacks by length and pattern, an empty one by its format; undefined if it fits. */
export function textFault(
  { format, pattern, minLength, maxLength }: Rules,
  text: string,
): string | undefined {
  const { length } = [...text]
  if (typeof minLength === 'number' && length < minLength) return `at least ${minLength} characters`
  if (typeof maxLength === 'number' && length > maxLength) return `at most ${maxLength} characters`
  if (typeof pattern !== 'string')
    return text === '' && String(format) in byFormat ? `a text of the format ${format}` : undefined
  try {
    if (new RegExp(pattern, 'u').test(text)) return undefined
    return `a text like ${pattern}`
  } catch {
    return undefined
  }
}

/** @returns a number within the bounds of a schema; undefined if no simple one fits. */
export function numberSample(schema: Rules): number | undefined {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf, type } = schema
  const bounds = (...given: unknown[]) => given.filter((each) => typeof each === 'number')
  // Infinite without a bound.
  const low = Math.max(...bounds(exclusiveMinimum, minimum))
  const high = Math.min(...bounds(exclusiveMaximum, maximum))
  const middle = (low + high) / 2
  const [step] = bounds(multipleOf, [type].flat().includes('integer') && 1)
  const next = step ?? 1
  const up = (value: number) => (step === undefined ? value : Math.ceil(value / step) * step)
  const lowest = low > 0 ? [low, up(low), up(low) + next] : [1]
  const ends = [low, high].flatMap((end) => [end, up(end), end - next])
  return [...lowest, 0, middle, up(middle), ...ends].find(
    (value) => Number.isFinite(value) && numberFault(schema, value) === undefined,
  )
}

/** @returns all rules of a number, if it breaks one; undefined if it fits. */
export function numberFault(
  { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf, type }: Rules,
  value: number,
): string | undefined {
  const isMultiple = (step: number) => Math.abs(value / step - Math.round(value / step)) < 1e-9
  const rules: [rule: unknown, text: string, keeps: (rule: number) => boolean][] = [
    [[type].flat().includes('integer') && 1, 'whole', () => Number.isInteger(value)],
    [minimum, `at least ${minimum}`, (least) => value >= least],
    [exclusiveMinimum, `more than ${exclusiveMinimum}`, (least) => value > least],
    [maximum, `at most ${maximum}`, (most) => value <= most],
    [exclusiveMaximum, `less than ${exclusiveMaximum}`, (most) => value < most],
    [multipleOf, `a multiple of ${multipleOf}`, isMultiple],
  ]
  const known = rules.filter(([rule]) => typeof rule === 'number')
  const isBroken = known.some(([rule, , keeps]) => !keeps(rule as number))
  if (isBroken) return `a number that is ${known.map(([, text]) => text).join(', ')}`
  return undefined
}

const classes: Readonly<Record<string, string>> = {
  d: '0',
  w: 'a',
  s: ' ',
  D: 'a',
  W: '-',
  S: 'a',
  n: '\n',
  t: '\t',
}
const candidates = [
  ...'aA0_-. ',
  ...Array.from({ length: 95 }, (_, i) => String.fromCharCode(32 + i)),
]

/**
 * @returns a text that a pattern describes, by its first alternatives; undefined for what this
 * cannot read.
 */
function matchOf(pattern: string, extra: number): string | undefined {
  let at = 0
  const next = (expected: RegExp) => {
    expected.lastIndex = at
    const [token] = expected.exec(pattern) ?? []
    at += token?.length ?? 0
    return token
  }
  const group = (): string => {
    // What a look around demands is checked afterwards.
    const isEmpty = next(/\?<?[=!]/y) !== undefined
    if (!isEmpty) next(/\?(?::|<\w+>)/y)
    const inner = alternatives()
    at++
    if (isEmpty) return ''
    return inner
  }
  const atom = (): string => {
    const token =
      next(
        /\\p\{[^}]*\}|\\u\{[^}]*\}|\\u[\da-f]{4}|\\x[\da-f]{2}|\\.|\[(?:\\.|[^\]\\])*\]|[\s\S]/iy,
      ) ?? ''
    if (token === '(') return group()
    if (token === '^' || token === '$' || token === '\\b' || token === '\\B') return ''
    if (token === '.') return 'a'
    if (token.startsWith('[') || /^\\[pux]/.test(token)) {
      const one = new RegExp(`^${token}$`, 'u')
      return candidates.find((each) => one.test(each)) ?? ''
    }
    if (token.startsWith('\\')) return classes[token[1]] ?? token.slice(1)
    return token
  }
  const repeated = (): string => {
    const text = atom()
    const quantifier = next(/(?:[*+?]|\{\d+(?:,\d*)?\})\??/y) ?? '{1}'
    const [, min = quantifier.startsWith('+') ? '1' : '0', , max] =
      /^\{(\d+)(,(\d*))?/.exec(quantifier) ?? []
    const isOpen = /^[*+?]|^\{\d+,/.test(quantifier)
    const most = quantifier.startsWith('?') ? 1 : Number(max || Number.POSITIVE_INFINITY)
    return text.repeat(isOpen ? Math.min(most, Number(min) + extra) : Number(min))
  }
  const sequence = (): string => {
    let text = ''
    while (at < pattern.length && pattern[at] !== '|' && pattern[at] !== ')') text += repeated()
    return text
  }
  const alternatives = (): string => {
    const first = sequence()
    while (pattern[at] === '|') {
      at++
      sequence()
    }
    return first
  }
  try {
    return alternatives()
  } catch {
    return undefined
  }
}
