import { io } from 'serving'
import { describe, expect, it } from 'vitest'
import { columnOf } from '../../../src/values/table/columns.ts'
import { fixture, polars } from './frames.ts'
import { refused, requestOf } from './requests.ts'

/** Made by test/fixtures/frames/zones.py and durations.py. */
const zones: { zone: string; text: string; us: string | null }[] = JSON.parse(
  fixture('zones.json').toString(),
)
const durations: { ns: string; text: string }[] = JSON.parse(
  fixture('duration-texts.json').toString(),
)

const bodies: Record<string, readonly [type: string, of: (text: string) => string]> = {
  JSON: ['application/json', (text) => JSON.stringify([{ t: text }])],
  CSV: ['text/csv', (text) => `t\n"${text}"\n`],
}

describe.each(Object.entries(bodies))(
  'a text without an offset under a type with a zone, in %s',
  (_, [type, bodyOf]) => {
    it.each(zones)('$zone: $text is what pandas makes of it', async ({ zone, text, us }) => {
      const descriptor = new io.PandasDataFrame({
        dtype: { t: `datetime64[us, ${zone}]` },
        dateUnit: 'us',
      })
      if (us === null) {
        const error = await refused(descriptor, bodyOf(text), type)
        expect(error).toMatchObject({ status: 400, reason: 'dtype', path: '[0].t' })
        expect(error.message).toContain('of an hour that the zone has once')
        return
      }
      const frame = await descriptor.fromHttpRequest(requestOf(bodyOf(text), type))
      const { body } = await descriptor.toHttpResponse(frame)
      expect(Buffer.from(body as Uint8Array).toString()).toBe(`[{"t":${us}}]`)
    })

    it('differs from one with an offset, which may be of an hour that the zone has twice', async () => {
      const descriptor = new io.PandasDataFrame({ dtype: { t: 'datetime64[ms, Europe/Berlin]' } })
      for (const text of ['2020-10-25T02:30:00+01:00', '2020-10-25T01:30:00Z']) {
        const { body } = await descriptor.toHttpResponse(
          await descriptor.fromHttpRequest(requestOf(bodyOf(text), type)),
        )
        expect(Buffer.from(body as Uint8Array).toString()).toBe('[{"t":1603589400000}]')
      }
    })
  },
)

describe('a local time of a file', () => {
  const descriptor = new io.PandasDataFrame({
    dtype: { t: 'datetime64[us, Europe/Berlin]' },
    dateUnit: 'us',
  })
  const noon = BigInt(Date.UTC(2020, 6, 1, 12)) * 1000n

  it.each([
    [
      'an instant',
      columnOf('t', 'int64', [noon, null]),
      { type: 'datetime', unit: 'us' },
      noon - 7_200_000_000n,
    ],
    [
      'of another unit',
      columnOf('t', 'int64', [noon / 1000n]),
      { type: 'datetime', unit: 'ms' },
      noon - 7_200_000_000n,
    ],
    ['a day', columnOf('t', 'int32', [18_444]), { type: 'date' }, noon - 50_400_000_000n],
    [
      'with its zone',
      columnOf('t', 'int64', [noon]),
      { type: 'datetime', unit: 'us', zone: 'Asia/Kolkata' },
      noon,
    ],
  ] as const)('%s is what the clock of the zone shows', async (_, column, time, us) => {
    const rows = column.data.byteLength / (column.kind === 'int32' ? 4 : 8)
    const file = polars.writeParquet(polars.fromColumns({ rows, columns: [{ ...column, time }] }))
    const frame = await descriptor.fromHttpRequest(requestOf(file, 'application/octet-stream'))
    const { body } = await descriptor.toHttpResponse(frame)
    expect(JSON.parse(Buffer.from(body as Uint8Array).toString())[0]).toEqual({ t: Number(us) })
  })

  it('is refused if the zone skips its hour', async () => {
    const skipped = {
      ...columnOf('t', 'int64', [0n, BigInt(Date.UTC(2020, 2, 29, 2, 30)) * 1000n]),
    }
    const time = { type: 'datetime', unit: 'us' } as const
    const file = polars.writeParquet(
      polars.fromColumns({ rows: 2, columns: [{ ...skipped, time }] }),
    )
    expect(await refused(descriptor, file, 'application/octet-stream')).toMatchObject({
      status: 400,
      path: '[1].t',
    })
  })
})

describe.each(Object.entries(bodies))('a text under timedelta64, in %s', (_, [type, bodyOf]) => {
  const read = async (text: string, unit = 'ns') => {
    const descriptor = new io.PandasDataFrame({
      dtype: { t: `timedelta64[${unit}]` },
      dateUnit: unit as 'ns',
    })
    const frame = await descriptor.fromHttpRequest(requestOf(bodyOf(text), type))
    const { body } = await descriptor.toHttpResponse(frame)
    return Buffer.from(body as Uint8Array).toString()
  }

  it.each(durations)('$text is what pandas reads', async ({ text, ns }) => {
    expect(await read(text)).toBe(`[{"t":${ns}}]`)
  })

  // pandas reads none of these as ISO 8601 has them.
  it.each([
    ['PT0.5H', 1_800_000],
    ['P0.5D', 43_200_000],
    ['P1.5W', 907_200_000],
    ['PT1,5S', 1500],
    ['+P1D', 86_400_000],
    ['PT-1H+30M', -1_800_000],
    ['-PT-1H', 3_600_000],
    ['PT0.0019S', 1],
    ['-PT0.0019S', -1],
  ])('%s is what ISO 8601 says', async (text, ms) => {
    expect(await read(text, 'ms')).toBe(`[{"t":${ms}}]`)
  })

  it.each([
    ...[
      'P',
      'PT',
      'P1DT',
      'P1Y',
      'P1M',
      'P1D2H',
      'PT1S30M',
      'PT1.5H30M',
      'PT1.S',
      'PT.5S',
      'pt1s',
      'PT1.1234567891S',
    ],
    ...[
      '1 days -01:00:00',
      '1 days 00:00',
      '00:01',
      '1 month',
      'days',
      '106752 days',
      'P106752D',
      '1 days x',
    ],
  ])('%s is refused', async (text) => {
    const descriptor = new io.PandasDataFrame({ dtype: { t: 'timedelta64[ns]' } })
    const error = await refused(descriptor, bodyOf(text), type)
    expect(error).toMatchObject({ status: 400, reason: 'dtype', path: '[0].t' })
  })
})
