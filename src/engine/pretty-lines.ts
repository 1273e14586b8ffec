/** Log lines for people. @module */

type Line = Readonly<Record<string, unknown>> & {
  readonly level: number
  readonly time: number
  readonly msg?: string
}

const levels: Readonly<Record<number, readonly [name: string, colour: number]>> = {
  10: ['TRACE', 90],
  20: ['DEBUG', 34],
  30: ['INFO', 32],
  40: ['WARN', 33],
  50: ['ERROR', 31],
  60: ['FATAL', 35],
}

const hidden: ReadonlySet<string> = new Set([
  'level',
  'time',
  'pid',
  'hostname',
  'name',
  'msg',
  'event',
  'err',
])

/** Escapes control characters: pino-pretty prints line breaks, with which a client can forge a line. */
export function prettyLine(json: string, colours: boolean): string {
  const line = JSON.parse(json) as Line
  const paint = (code: number, text: string) =>
    colours ? `\u001b[${code}m${text}\u001b[39m` : text
  const [name, colour] = levels[line.level] ?? [String(line.level), 39]
  const fields = Object.entries(line)
    .filter(([key, value]) => !hidden.has(key) && value !== undefined)
    .map(([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
  const time = new Date(line.time)
  const text = [
    paint(
      90,
      `${time.toTimeString().slice(0, 8)}.${String(time.getMilliseconds()).padStart(3, '0')}`,
    ),
    paint(colour, name.padEnd(5)),
    escaped(line.msg ?? ''),
    fields.length === 0 ? '' : ` ${paint(90, escaped(fields.join(' ')))}`,
  ]
  const { err } = line as { readonly err?: { readonly stack?: string; readonly message?: string } }
  const stack = err?.stack ?? err?.message
  const below = stack === undefined ? '' : `\n    ${stack.split('\n').map(escaped).join('\n    ')}`
  return `${text.join(' ').trimEnd()}${below}\n`
}

function escaped(text: string): string {
  return text.replace(
    /\p{Cc}/gu,
    (char) => `\\x${(char.codePointAt(0) as number).toString(16).padStart(2, '0')}`,
  )
}
