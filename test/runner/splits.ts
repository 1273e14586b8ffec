/** What the tests of splits share. @module */
import { Context, NDArray, Runner, type RunnerLife } from 'serving'
import { Split, type SplitOptions } from 'serving/split'
import { onTestFinished } from 'vitest'
import { until } from '../cli/process.ts'
import type { Version } from './models/versions.ts'
import { model } from './runner.ts'

export type Versions = typeof import('./models/versions.ts')

export const methods = { who: {}, add: {}, count: { stream: true }, counts: {} } as const

/** A version in this thread, or with threads of its own. */
export const versionOf = (init: Version, options: object = { threads: 0, concurrency: 64 }) =>
  new Runner<Versions>(init.name, { module: model('versions'), methods, init, ...options })

type Options = Omit<SplitOptions<Runner<Versions>>, 'stable' | 'canary' | 'shadow'>

/** A started split of versions, stopped when the test is over. */
export async function splitOf(
  options: Options & {
    readonly stable?: Partial<Version>
    readonly canary?: Partial<Version>
    readonly shadow?: Partial<Version>
  },
) {
  const { stable, canary, shadow, ...rest } = options
  const runners = {
    stable: versionOf({ name: 'v1', ...stable }),
    ...(canary && { canary: versionOf({ name: 'v2', ...canary }) }),
    ...(shadow && { shadow: versionOf({ name: 'v3', ...shadow }) }),
  }
  const split = new Split('model', { ...runners, ...rest })
  await split.start()
  onTestFinished(() => split.stop())
  return { split, control: controlOf(split), ...runners }
}

/** What a split tells: its report, and its calls and errors by version. */
export function controlOf(split: RunnerLife) {
  const { versions, families } = split
  if (versions === undefined || families === undefined) throw new Error('expected a split')
  return {
    families,
    report(): Report {
      const counts = metric({ families }, 'serving_split_seconds')
      const errors = metric({ families }, 'serving_split_errors_total')
      const all = Object.keys(errors).map((role) => ({
        role,
        calls: counts[`_count ${role}`],
        errors: errors[role],
      }))
      return { ...versions.state, versions: all }
    },
  }
}

interface Report {
  readonly canary: number
  readonly wentBack?: string
  readonly differences: number
  readonly dropped: Readonly<Record<string, number>>
  readonly held: { readonly calls: number; readonly bytes: number }
  readonly findings: readonly object[]
  readonly versions: readonly { readonly calls: number; readonly errors: number }[]
}

export const callerNamed = (name: string) => {
  const ctx = new Context()
  ctx.state.caller = { name }
  return ctx
}

export const numbers = (...values: number[]) =>
  new NDArray(Float32Array.from(values)) as NDArray<'float32'>

/** Returns the values of a metric by their labels without that of the split. */
export function metric(control: { families(): readonly { name: string }[] }, name: string) {
  const family = control.families().find((each) => each.name === name) as unknown as {
    values: { labels: Record<string, string>; metricName?: string; value: number }[]
  }
  return Object.fromEntries(
    family.values.map(({ labels, metricName = name, value }) => {
      const { split: _, ...own } = labels
      return [
        [metricName.slice(name.length), ...Object.values(own)].filter(Boolean).join(' '),
        value,
      ]
    }),
  )
}

/** Waits until the shadow has no call left. */
export const shadowed = (control: ReturnType<typeof controlOf>) =>
  until(() => control.report().held.calls === 0)
