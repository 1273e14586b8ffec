import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../../', import.meta.url))
const here = fileURLToPath(new URL('.', import.meta.url))
const programs = readdirSync(here).filter(
  (name) => name.endsWith('.ts') && !name.endsWith('.test.ts'),
)
const expectation = /^\s*\/\/ @ts-expect-error(?: (TS\d+): \S.*)?$/

/** Runs the compiler; `errors` are those in the folder itself, as `file:line code`. */
function compile(folder: string) {
  const args = [
    join(root, 'node_modules/typescript/bin/tsc'),
    '--noEmit',
    '--pretty',
    'false',
    '-p',
    '.',
  ]
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: folder,
    encoding: 'utf8',
  })
  const found = stdout.matchAll(/^([^\\/\n]+\.ts)\((\d+),\d+\): error (TS\d+)/gm)
  const errors = [...found].map(([, file, line, code]) => `${file}:${line} ${code}`)
  return { status, output: stdout + stderr, errors }
}

/** Returns the lines that must not compile, as `file:line code`. */
function expectedErrors(file: string): string[] {
  const lines = readFileSync(join(here, file), 'utf8').split('\n')
  return lines.flatMap((line, i) => {
    const found = expectation.exec(line)
    return found === null ? [] : [`${file}:${i + 2} ${found[1]}`]
  })
}

describe('the types of the public API', () => {
  it('are expected to refuse something in every file, each time with the code of the error', () => {
    for (const file of programs) {
      const errors = expectedErrors(file)
      expect(errors.length, file).toBeGreaterThan(0)
      expect(
        errors.filter((error) => error.endsWith('undefined')),
        'expectations without a code',
      ).toEqual([])
    }
  })
})

describe('without the expectations', () => {
  let folder: string

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'serving-types-'))
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'), 'junction')
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
    writeFileSync(
      join(folder, 'tsconfig.json'),
      JSON.stringify({ extends: join(root, 'tsconfig.json'), include: ['*.ts'] }),
    )
    for (const file of programs) {
      const lines = readFileSync(join(here, file), 'utf8').split('\n')
      // A comment stays in each place, so that line numbers stay, too.
      const bare = lines.map((line) => (expectation.test(line) ? '//' : line))
      writeFileSync(join(folder, file), bare.join('\n'))
    }
    writeFileSync(
      join(folder, 'negative.ts'),
      [
        "import { io, Service } from 'serving'",
        "new Service('types').api({ input: new io.Text(), output: new io.Text() }, function count(text) {",
        '  return text.length',
        '})',
      ].join('\n'),
    )
  })

  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it('the same programs fail in exactly the expected places for exactly the expected reasons', () => {
    const { status, errors } = compile(folder)
    expect(status).not.toBe(0)
    const wanted = [...programs.flatMap(expectedErrors), 'negative.ts:2 TS2345']
    expect(errors.toSorted()).toEqual(wanted.toSorted())
  })
})
