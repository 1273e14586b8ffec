import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { prettyLine } from '../../../src/engine/pretty-lines.ts'

/** Returns what pino writes, as text. */
function pretty(write: (log: pino.Logger) => void, colours = false): string {
  let text = ''
  write(
    pino(
      { name: 'serving', level: 'trace' },
      { write: (line: string) => (text += prettyLine(line, colours)) },
    ),
  )
  return text
}

describe('log lines for people', () => {
  it('have time, level, message and fields', () => {
    const line = pretty((log) => log.warn({ worker: 2, path: '/a', event: 'x' }, 'it is late'))
    expect(line).toMatch(/^\d\d:\d\d:\d\d\.\d{3} WARN {2}it is late {2}worker=2 path=\/a\n$/)
  })

  it('have the stack of an error below, and no colours unless asked for', () => {
    const text = pretty((log) => log.error({ err: new TypeError('no') }, 'failed'))
    expect(text).toMatch(/ ERROR failed\n {4}TypeError: no\n {4,}at /)
    expect(text).not.toContain('\u001b')
    expect(pretty((log) => log.info('x'), true)).toContain('\u001b[32mINFO')
  })

  it('escape what would steer the terminal', () => {
    expect(pretty((log) => log.info({ path: '/\u001b[2J\r' }, 'a\nb'))).toContain(
      'a\\x0ab  path=/\\x1b[2J\\x0d',
    )
  })
})
