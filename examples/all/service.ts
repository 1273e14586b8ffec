/**
 * One API for each descriptor.
 * @module
 */
import { createHash } from 'node:crypto'
import pl from 'nodejs-polars'
import { io, NDArray, RasterImage, Service } from 'serving'
import { z } from 'zod'

const svc = new Service('all', { doc: 'One API for each descriptor.' })

svc.api(
  {
    input: new io.NumpyNdarray({ dtype: 'float64' }),
    output: new io.NumpyNdarray(),
    doc: 'Every number times two.',
  },
  function double(x) {
    return new NDArray(
      x.data.map((value) => value * 2),
      x.shape,
      'float64',
    )
  },
)

svc.api(
  {
    input: new io.PandasDataFrame({
      dtype: { price: 'float64', count: 'int64' },
      shape: [-1, 3],
      enforceShape: true,
    }),
    output: new io.PandasDataFrame(),
    doc: 'Rows of item, price and count get their total.',
  },
  function total(orders) {
    return orders.withColumns(pl.col('price').mul(pl.col('count')).alias('total'))
  },
)

svc.api(
  {
    input: new io.PandasSeries({ dtype: 'float64' }),
    output: new io.PandasSeries(),
    doc: 'Differences to the mean.',
  },
  function center(series) {
    return series.sub(series.mean())
  },
)

const Person = z.object({ name: z.string().min(1), born: z.int().min(1900).max(2100) })

svc.api(
  { input: new io.JSON({ schema: Person }), output: new io.JSON(), doc: 'Greets a person.' },
  function greet({ name, born }) {
    return { greeting: `Hello, ${name}!`, adult: new Date().getFullYear() - born >= 18 }
  },
)

svc.api(
  { input: new io.Text(), output: new io.Text(), doc: 'Sends the words back one by one.' },
  async function* words(text) {
    for (const word of text.split(/\s+/)) yield `${word}\n`
  },
)

svc.api(
  {
    input: new io.Image({ pilmode: 'RGB' }),
    output: new io.Image({ mimeType: 'image/png' }),
    doc: 'A picture becomes its negative.',
  },
  function negative(picture) {
    return new RasterImage(
      picture.mode,
      picture.width,
      picture.height,
      picture.data.map((level) => 255 - level),
    )
  },
)

svc.api(
  {
    input: new io.File(),
    output: new io.JSON(),
    doc: 'Name, type, size and SHA-256 of a file of any size.',
  },
  async function digest(file) {
    const hash = createHash('sha256')
    for await (const chunk of file.stream()) hash.update(chunk)
    return { name: file.name, type: file.mimeType, bytes: file.size, sha256: hash.digest('hex') }
  },
)

svc.api(
  {
    input: new io.Multipart({
      picture: new io.Image({ pilmode: 'L' }),
      box: new io.JSON({ schema: z.tuple([z.int(), z.int(), z.int(), z.int()]) }),
    }),
    output: new io.JSON(),
    doc: 'The mean grey level of a picture inside a box [left, top, right, bottom].',
  },
  function mean_level({ picture, box: [left, top, right, bottom] }) {
    let sum = 0
    let count = 0
    for (let y = Math.max(0, top); y < Math.min(bottom, picture.height); y++) {
      for (let x = Math.max(0, left); x < Math.min(right, picture.width); x++) {
        sum += picture.data[y * picture.width + x]
        count++
      }
    }
    return { mean: count === 0 ? null : sum / count, pixels: count }
  },
)

export default svc
