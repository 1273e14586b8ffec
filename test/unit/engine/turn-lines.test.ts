import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { TurnLines } from '../../../src/engine/log-pipe.ts'

function logger() {
  const written: string[][] = []
  const sink = {
    write: (text: string) =>
      void written.push(
        text
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line).msg),
      ),
  }
  return { log: pino({}, new TurnLines(sink)), written }
}

const turn = () => new Promise(setImmediate)

describe('log lines of a turn', () => {
  it('are written at once', async () => {
    const { log, written } = logger()
    log.info('a')
    log.info('b')
    expect(written).toEqual([])
    await turn()
    log.info('c')
    await turn()
    expect(written).toEqual([['a', 'b'], ['c']])
  })

  it('are written before a warning or an error returns, in order', async () => {
    const { log, written } = logger()
    log.info('a')
    log.error('b')
    expect(written).toEqual([['a', 'b']])
    log.warn('c')
    await turn()
    expect(written).toEqual([['a', 'b'], ['c']])
  })

  it('are written before there are too many', () => {
    const { log, written } = logger()
    for (let i = 0; i < 100; i++) log.info('x'.repeat(1024))
    expect(written.length).toBe(1)
  })
})
