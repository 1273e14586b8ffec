import { describe, expect, it } from 'vitest'
import { Command } from '../../../src/cli/command-options.ts'
import { addLoadCommand } from '../../../src/cli/load-program.ts'
import { addReplayCommand } from '../../../src/cli/replay-program.ts'

/** Reads flags as `serving` does, without running the command; returns what it says of wrong ones. */
function said(name: string, ...args: string[]): string {
  let text = ''
  const program = new Command('serving')
  addLoadCommand(program)
  addReplayCommand(program)
  for (const command of program.commands) {
    command.exitOverride().action(() => {})
    command.configureOutput({
      writeErr: (part) => {
        text += part
      },
    })
  }
  try {
    program.parse([name, ...args], { from: 'user' })
  } catch (error) {
    expect(error).toMatchObject({ code: 'commander.invalidArgument' })
  }
  return text
}

describe('the flags of serving replay', () => {
  const replay = ['replay', 'capture', '--against', 'next.ts'] as const
  const toOne = /It is a number from 0 to 1\./

  it.each<readonly [flag: string, value: string, message: RegExp]>([
    ...['2', '1.01', '-0.1', '', ' ', '5%', 'none', 'NaN', 'Infinity'].map(
      (value) => ['--allow', value, toOne] as const,
    ),
    ['--sample', '1.5', toOne],
    ['--ulp', 'Infinity', /It is a number from 0 up\./],
    ['--relative', '-1', /It is a number from 0 up\./],
    ['--speed', '0', /It is a number from 0.001 up\./],
    ['--connections', '0', /Expected a whole number from 1 up\./],
    ['--header', 'no colon', /It is "name: value"\./],
  ])('refuse %s %j', (flag, value, message) => {
    expect(said(...replay, `${flag}=${value}`)).toMatch(message)
  })

  it.each([
    ['--allow', '1'],
    ['--allow', '1e-3'],
    ['--speed', '0.5'],
    ['--header', 'x: '],
  ])('take %s %j', (flag, value) => {
    expect(said(...replay, `${flag}=${value}`)).toBe('')
  })
})

describe('the flags of serving load', () => {
  it.each(['0', '-1', '', '10,,20', 'Infinity', '1e999'])('refuse --rate %j', (rates) => {
    const text = said('load', 'http://localhost', `--rate=${rates}`)
    expect(text).toContain('It is a list of numbers above 0, as 100,200.')
  })
})
