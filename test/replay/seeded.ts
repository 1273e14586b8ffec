/** Five services, each with ten faults that a change of a model or of its code brings. */
import pl from 'nodejs-polars'
import { z } from 'zod'
import { InvalidArgument } from '../../src/core/errors.ts'
import { io, NDArray, RasterImage, type Service } from '../../src/index.ts'

/** A pseudorandom number below 1 for each seed. */
export function random(seed: number): number {
  const mixed = Math.imul(seed ^ (seed >>> 15), 0x2c1b3c6d)
  const more = Math.imul(mixed ^ (mixed >>> 12), 0x297a2d39)
  return ((more ^ (more >>> 15)) >>> 0) / 2 ** 32
}

/** A service and what it is asked. */
export interface Seeded {
  readonly api: string
  readonly faults: readonly string[]
  /** Defines the API, with one of the faults or as it is. */
  define(svc: Service, fault?: string): void
  /** The body of call `i`, and its type. */
  body(i: number): { readonly body: string | Uint8Array; readonly type: string }
}

const json = (value: unknown) => ({ body: JSON.stringify(value), type: 'application/json' })

/** A linear model with a scaler, whose scores are probabilities. */
const classify: Seeded = {
  api: 'classify',
  faults: [
    'a changed weight',
    'a swapped axis',
    'a missing scaler',
    'another dtype',
    'a missing bias',
    'no softmax',
    'a temperature',
    'labels off by one',
    'weights as float16',
    'a missing dimension',
  ],
  define(svc, fault) {
    const weights = Float32Array.from({ length: 12 }, (_, i) => random(i) - 0.5)
    const bias = [0.1, -0.2, 0.3]
    if (fault === 'a changed weight') weights[5] *= 1.01
    const weightOf = (feature: number, label: number) => {
      const at = fault === 'a swapped axis' ? label * 4 + feature : feature * 3 + label
      return fault === 'weights as float16' ? Math.round(weights[at] * 1024) / 1024 : weights[at]
    }
    const score = (row: readonly number[]) => {
      const scores = bias.map((shift, label) => {
        const scaled = row.map((x) => (fault === 'a missing scaler' ? x : (x - 5) / 2))
        const sum = scaled.reduce((all, x, i) => all + x * weightOf(i, label), 0)
        const all = sum + (fault === 'a missing bias' ? 0 : shift)
        return fault === 'a temperature' ? all / 1.1 : all
      })
      if (fault === 'no softmax') return scores
      const exps = scores.map(Math.exp)
      const total = exps.reduce((all, exp) => all + exp)
      const shares = exps.map((exp) => exp / total)
      return fault === 'labels off by one' ? [...shares.slice(1), shares[0]] : shares
    }
    svc.api(
      { input: new io.NumpyNdarray({ dtype: 'float32' }), output: new io.NumpyNdarray() },
      function classify(x) {
        const [rows, columns] = x.shape
        const scores = Array.from({ length: rows }, (_, row) =>
          score([...x.data.subarray(row * columns, (row + 1) * columns)]),
        ).flat()
        if (fault === 'another dtype') return new NDArray(Float64Array.from(scores), [rows, 3])
        const shape = fault === 'a missing dimension' ? [rows * 3] : [rows, 3]
        return new NDArray(Float32Array.from(scores), shape)
      },
    )
  },
  body: (i) =>
    json(
      Array.from({ length: 1 + (i % 3) }, (_, row) =>
        Array.from({ length: 4 }, (_, x) => Math.round(random(i * 97 + row * 11 + x) * 1e4) / 1e3),
      ),
    ),
}

/** A frame that gets columns. */
const price: Seeded = {
  api: 'price',
  faults: [
    'a column off by one',
    'a rounding to two digits',
    'a rate of tax',
    'missing values as 0',
    'rows in another order',
    'a missing column',
    'a renamed column',
    'numbers as text',
    'a threshold that includes',
    'a sum in place of a product',
  ],
  define(svc, fault) {
    // Once: nodejs-polars takes a millisecond for each expression.
    const count =
      fault === 'a column off by one' ? pl.col('count').plus(pl.lit(1)) : pl.col('count')
    const cost = pl.col('price')
    const known = fault === 'missing values as 0' ? cost.fillNull(pl.lit(0)) : cost
    const net = fault === 'a sum in place of a product' ? known.add(count) : known.mul(count)
    const gross = net.mul(pl.lit(fault === 'a rate of tax' ? 1.2 : 1.19))
    const total = fault === 'a rounding to two digits' ? gross.round(2) : gross
    const bound = pl.lit(5)
    const many = fault === 'a threshold that includes' ? count.gtEq(bound) : count.gt(bound)
    const share = total.div(pl.lit(3)).alias('share')
    const added = [total.alias('total'), many.alias('many'), share]
    svc.api(
      {
        input: new io.PandasDataFrame({ dtype: { price: 'float64', count: 'int64' } }),
        output: new io.PandasDataFrame(),
      },
      function price(frame) {
        const result = frame.withColumns(...added)
        if (fault === 'rows in another order') return result.sort('item', true)
        if (fault === 'a missing column') return result.drop('share')
        if (fault === 'a renamed column') return result.rename({ share: 'Share' })
        if (fault === 'numbers as text')
          return result.withColumns(pl.col('share').cast(pl.Utf8).alias('share'))
        return result
      },
    )
  },
  body: (i) =>
    json(
      Array.from({ length: 3 + (i % 4) }, (_, row) => ({
        item: `item ${row}`,
        price: (i + row) % 7 === 0 ? null : Math.round(random(i * 31 + row) * 1e5) / 1e3,
        count: 1 + Math.floor(random(i * 17 + row) * 9),
      })),
    ),
}

const Order = z.object({
  customer: z.string(),
  date: z.string(),
  amounts: z.array(z.number()),
})

/** An object of texts, numbers and lists. */
const invoice: Seeded = {
  api: 'invoice',
  faults: [
    'a locale',
    'a time zone',
    'an item off by one',
    'another case',
    'a missing member',
    'one more member',
    'a number as text',
    'another order of a list',
    'null in place of 0',
    'cents that are cut off',
  ],
  define(svc, fault) {
    svc.api(
      { input: new io.JSON({ schema: Order }), output: new io.JSON() },
      function invoice({ customer, date, amounts }) {
        const counted = fault === 'an item off by one' ? amounts.slice(1) : amounts
        const sum = counted.reduce((all, amount) => all + amount, 0)
        const cents = fault === 'cents that are cut off' ? Math.trunc(sum) : sum
        const locale = fault === 'a locale' ? 'de' : 'en'
        const timeZone = fault === 'a time zone' ? 'Asia/Tokyo' : 'UTC'
        const day = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeZone }).format(
          new Date(date),
        )
        const sorted = counted.toSorted((a, b) =>
          fault === 'another order of a list' ? b - a : a - b,
        )
        return {
          customer: fault === 'another case' ? customer.toLowerCase() : customer,
          day,
          text: new Intl.NumberFormat(locale, { minimumFractionDigits: 2 }).format(cents),
          sum: fault === 'a number as text' ? String(cents) : cents,
          discount: fault === 'null in place of 0' ? null : 0,
          items: sorted.map((amount) => ({ amount, isLarge: amount > 500 })),
          ...(fault !== 'a missing member' && { currency: 'EUR' }),
          ...(fault === 'one more member' && { note: '' }),
        }
      },
    )
  },
  body: (i) =>
    json({
      customer: `Customer ${i % 5}`,
      date: new Date(1.7e12 + i * 3_600_000 * 7).toISOString(),
      amounts: Array.from(
        { length: 1 + (i % 4) },
        (_, n) => Math.round(random(i * 7 + n) * 2e5) / 100,
      ),
    }),
}

/** Pictures of other sizes. */
const thumb: Seeded = {
  api: 'thumb',
  faults: [
    'a resize filter',
    'another size',
    'a crop off by one',
    'grey in place of colours',
    'channels in another order',
    'an image upside down',
    'a gamma',
    'pixels off by one',
    'a lossy format',
    'sides that are swapped',
  ],
  define(svc, fault) {
    const mimeType = fault === 'a lossy format' ? 'image/jpeg' : 'image/png'
    const input = new io.Image({ pilmode: 'RGB' })
    svc.api({ input, output: new io.Image({ mimeType }) }, async function thumb(image) {
      const { width, height } = image
      const filter = fault === 'a resize filter' ? 'bilinear' : 'lanczos'
      const side = fault === 'another size' ? 9 : 8
      const data = Uint8Array.from(image.data)
      const at = (x: number, y: number, channel: number) => (y * width + x) * 3 + channel
      const pixels = data.map((value, i) => {
        const [channel, x, y] = [i % 3, Math.floor(i / 3) % width, Math.floor(i / 3 / width)]
        if (fault === 'a crop off by one') return data[at(Math.min(x + 1, width - 1), y, channel)]
        if (fault === 'channels in another order') return data[at(x, y, 2 - channel)]
        if (fault === 'an image upside down') return data[at(x, height - 1 - y, channel)]
        if (fault === 'a gamma') return Math.round(255 * (value / 255) ** 1.05)
        if (fault === 'pixels off by one') return Math.min(255, value + 1)
        if (fault === 'grey in place of colours') return data[at(x, y, 0)]
        return fault === 'sides that are swapped' && width === height
          ? data[at(y, x, channel)]
          : value
      })
      return new RasterImage('RGB', width, height, pixels).resize(side, 8, { filter })
    })
  },
  body: (i) => ({ body: bitmap(12, 12, i), type: 'image/bmp' }),
}

/** A Windows bitmap of random colours, which needs no codec. */
function bitmap(width: number, height: number, seed: number): Uint8Array {
  const head = Buffer.alloc(54)
  head.write('BM')
  head.writeUInt32LE(54 + width * height * 3, 2)
  head.writeUInt32LE(54, 10)
  head.writeUInt32LE(40, 14)
  head.writeInt32LE(width, 18)
  head.writeInt32LE(height, 22)
  head.writeUInt16LE(1, 26)
  head.writeUInt16LE(24, 28)
  const pixels = Uint8Array.from({ length: width * height * 3 }, (_, i) =>
    Math.floor(random(seed * 1009 + i) * 256),
  )
  return Buffer.concat([head, pixels])
}

/** A text that is cleaned, or refused. */
const clean: Seeded = {
  api: 'clean',
  faults: [
    'lower case',
    'no trim',
    'a slice off by one',
    'another error',
    'no error',
    'accents that are lost',
    'words in another order',
    'a stop word',
    'another end of lines',
    'digits that are hidden',
  ],
  define(svc, fault) {
    svc.api({ input: new io.Text(), output: new io.Text() }, function clean(text) {
      if (text.includes('#') && fault !== 'no error') {
        if (fault === 'another error') throw new Error('a marker')
        throw new InvalidArgument('expected a text without #')
      }
      const words = text.split(/ +/)
      const sorted = fault === 'words in another order' ? words.toReversed() : words
      const left = sorted.filter((word) => word !== (fault === 'a stop word' ? 'the' : 'a'))
      const joined = left.join(' ')
      const trimmed = fault === 'no trim' ? joined : joined.trim()
      const short = trimmed.slice(0, fault === 'a slice off by one' ? 39 : 40)
      if (fault === 'lower case') return short.toLowerCase()
      if (fault === 'accents that are lost') return short.normalize('NFD').replace(/\p{M}/gu, '')
      if (fault === 'another end of lines') return short.replaceAll('\n', '\r\n')
      return fault === 'digits that are hidden' ? short.replaceAll(/\d/g, '*') : short
    })
  },
  body: (i) => ({
    body: ` The café a the ${i}${i % 5 === 0 ? '#' : ''} line\nof a longer text that goes on `,
    type: 'text/plain',
  }),
}

/** All of them. */
export const seeded: readonly Seeded[] = [classify, price, invoice, thumb, clean]
