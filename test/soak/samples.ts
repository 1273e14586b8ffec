/**
 * What a soak has measured over time, as a picture and in figures.
 * @module
 */
import { percentile } from '../fuzz/good-load.ts'
import { drawCharts, type Mark } from './chart.ts'

/** One window. **Units**: milliseconds, bytes. */
export interface Sample {
  /** Since the start. */
  readonly minutes: number
  /** Of the window. */
  readonly seconds: number
  readonly answered: number
  /** Due and not sent: more waited than can be caught up with. */
  readonly skipped: number
  readonly lostToKills: number
  readonly failures: number
  readonly p50: number | undefined
  readonly p99: number | undefined
  readonly p999: number | undefined
  /** Of the eldest worker, which is killed by a reload alone. */
  readonly pid: number
  readonly ageMinutes: number
  readonly rss: number
  readonly heap: number | undefined
  readonly external: number | undefined
  readonly supervisorRss: number
  /** Of all workers together. */
  readonly descriptors: number
  readonly temporaryFiles: number
}

type Value = (sample: Sample) => number | undefined

/** Draws all of it. */
export function drawSamples(
  title: string,
  samples: readonly Sample[],
  marks: readonly Mark[],
): string {
  const curve = (name: string, of: Value) => ({ name, values: samples.map(of) })
  const mb = (of: Value) => (sample: Sample) => {
    const bytes = of(sample)
    return bytes === undefined ? undefined : bytes / 1e6
  }
  const panels = [
    {
      title: 'requests per second',
      curves: [
        curve('answered', (s) => s.answered / s.seconds),
        curve('not sent', (s) => s.skipped / s.seconds),
      ],
    },
    {
      title: 'failures',
      curves: [
        curve('of killed workers', (s) => s.lostToKills),
        curve('others', (s) => s.failures),
      ],
    },
    {
      ...{ title: 'milliseconds', logarithmic: true },
      curves: [
        curve('p50', (s) => s.p50),
        curve('p99', (s) => s.p99),
        curve('p99.9', (s) => s.p999),
      ],
    },
    {
      title: 'MB',
      curves: [
        curve(
          'RSS of the eldest worker',
          mb((s) => s.rss),
        ),
        curve(
          'its heap',
          mb((s) => s.heap),
        ),
        curve(
          'its external memory',
          mb((s) => s.external),
        ),
        curve(
          'RSS of the supervisor',
          mb((s) => s.supervisorRss),
        ),
      ],
    },
    { title: 'file descriptors of all workers', curves: [curve('open', (s) => s.descriptors)] },
    { title: 'temporary files', curves: [curve('there', (s) => s.temporaryFiles)] },
  ]
  const minutes = samples.map((sample) => sample.minutes)
  return drawCharts(title, minutes, panels, marks)
}

/** The last of a list compared with its first: the medians of both thirds. */
function change(values: readonly number[]): number {
  const third = Math.max(1, Math.floor(values.length / 3))
  return percentile(values.slice(-third), 0.5) / percentile(values.slice(0, third), 0.5)
}

/** How much a value has risen from the first to the last third of the soak, behind a fifth of warming up. */
export function rise(samples: readonly Sample[], of: Value): number {
  const warm = samples.slice(Math.ceil(samples.length / 5))
  return change(warm.map((sample) => of(sample) ?? Number.NaN))
}

/**
 * How much the RSS of workers has risen from generation to generation, at equal age: each counts by the median of its
 * last half. One generation, where nothing is reloaded, is compared with itself, as other values are.
 */
export function riseOfWorkers(samples: readonly Sample[]): number {
  const oldest = Math.max(...samples.map(({ ageMinutes }) => ageMinutes))
  const whole = samples.filter(
    ({ pid, ageMinutes }, i) => ageMinutes > oldest * 0.7 && samples[i + 1]?.pid !== pid,
  )
  if (whole.length < 2) return rise(samples, ({ rss }) => rss)
  const sizes = whole.map(({ pid }) => {
    const late = samples.filter((sample) => sample.pid === pid && sample.ageMinutes > oldest / 2)
    return percentile(
      late.map(({ rss }) => rss),
      0.5,
    )
  })
  return change(sizes)
}
