/** What the tests of runners share. */
import { Runner, type RunnerOptions } from 'serving'
import { onTestFinished } from 'vitest'

/** The URL of a model's module. */
export const model = (name: string) => new URL(`./models/${name}.ts`, import.meta.url)

/** Returns a started runner, stopped when the test is over. */
export async function started<M>(options: RunnerOptions<M>): Promise<Runner<M>> {
  const runner = new Runner<M>('test', options)
  await runner.start()
  onTestFinished(() => runner.stop())
  return runner
}

/** Returns what a promise was rejected with. */
export async function failureOf(
  promise: Promise<unknown>,
): Promise<Error & Record<string, unknown>> {
  try {
    await promise
  } catch (error) {
    return error as Error & Record<string, unknown>
  }
  throw new Error('expected a failure')
}

/** Waits, without blocking, until shared memory holds at least that number. */
export async function reaches(flags: Int32Array, index: number, count: number): Promise<void> {
  for (;;) {
    const now = Atomics.load(flags, index)
    if (now >= count) return
    await (Atomics as unknown as AsyncAtomics).waitAsync(flags, index, now).value
  }
}

interface AsyncAtomics {
  waitAsync(
    array: Int32Array,
    index: number,
    value: number,
  ): { readonly value: Promise<string> | string }
}
