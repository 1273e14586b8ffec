/** What the tests of models in Python share. */
import { spawnSync } from 'node:child_process'
import { Runner } from 'serving'
import { onTestFinished } from 'vitest'

/** The Python that the tests use. */
export const python = process.env.PYTHON ?? 'python3'
const can = (code: string) => spawnSync(python, ['-c', code], { stdio: 'ignore' }).status === 0
/** Whether it is there. */
export const hasPython = can('import sys; assert sys.version_info >= (3, 9)')
/** Whether it has numpy; PYTHON names one that has. */
export const hasNumpy = can('import numpy')
/** Whether it has pandas and pyarrow. */
export const hasFrames = can('import pandas, pyarrow')

// biome-ignore lint/suspicious/noExplicitAny: what the model returns is what the tests look at
type Any = any
/** Any model: its methods take and return anything. */
export type AnyModel = Readonly<Record<string, (input?: Any, call?: Any) => Any>>
type Options = ConstructorParameters<typeof Runner<AnyModel>>[1]

/** The URL of a file in Python. */
export const file = (name: string) => new URL(`./${name}.py`, import.meta.url)

/** A runner of `model.py`, or of another file, with the methods of that name. */
export function pythonRunner(methods: string | object, options: object = {}): Any {
  const own =
    typeof methods === 'string'
      ? Object.fromEntries(methods.split(' ').map((name) => [name, {}]))
      : methods
  return new Runner<AnyModel>('test', {
    python: file('model'),
    executable: python,
    methods: own,
    ...options,
  } as Options)
}

/** The same, started, and stopped when the test is over. */
export async function started(methods: string | object, options: object = {}): Promise<Any> {
  const runner = pythonRunner(methods, options)
  await runner.start()
  onTestFinished(() => runner.stop())
  return runner
}

/** Whether a process is there. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !isZombie(pid)
  } catch {
    return false
  }
}

function isZombie(pid: number): boolean {
  return spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], {
    encoding: 'utf8',
  }).stdout.startsWith('Z')
}

/** Resolves when a process is gone. */
export async function ended(pid: number): Promise<void> {
  while (isAlive(pid)) await new Promise((resolve) => setTimeout(resolve, 10))
}
