/** A service with all descriptors in the forms that the fuzzer sends to. */
import { io, NDArray, Service } from 'serving'
import { z } from 'zod'

const svc = new Service('fuzz')
const json = new io.JSON()
const user = z.object({
  name: z.string(),
  n: z.number().int(),
  tags: z.array(z.string()).optional(),
})

for (const orient of ['records', 'columns', 'values', 'index', 'split', 'table'] as const) {
  svc.api(
    {
      input: new io.PandasDataFrame({ orient }),
      output: new io.PandasDataFrame({ orient }),
      name: `frame_${orient}`,
    },
    (frame) => frame,
  )
  svc.api(
    {
      input: new io.PandasSeries({ orient }),
      output: new io.PandasSeries({ orient }),
      name: `series_${orient}`,
    },
    (series) => series,
  )
}
svc.api(
  {
    input: new io.PandasDataFrame({ dtype: { a: 'int64', b: 'float32', s: 'str' } }),
    output: new io.PandasDataFrame({ defaultFormat: 'csv' }),
    name: 'frame_typed',
  },
  (frame) => frame,
)
svc.api(
  { input: new io.PandasDataFrame({ defaultFormat: 'parquet' }), output: json },
  function parquet(frame) {
    return { rows: frame.height, columns: frame.width }
  },
)
svc.api(
  {
    input: new io.PandasDataFrame({ defaultFormat: 'parquet' }),
    output: new io.PandasDataFrame({ defaultFormat: 'parquet' }),
  },
  function parquet_echo(frame) {
    return frame.head(1000)
  },
)
svc.api(
  { input: new io.Image({ pilmode: null, maxPixels: 4_000_000 }), output: json },
  function image({ mode, width, height }) {
    return { mode, width, height }
  },
)
svc.api(
  {
    input: new io.Image({ maxPixels: 4_000_000 }),
    output: new io.Image({ mimeType: 'image/png' }),
  },
  function image_png(image) {
    return image
  },
)
svc.api({ input: new io.NumpyNdarray(), output: new io.NumpyNdarray() }, function ndarray(x) {
  return x
})
svc.api(
  { input: new io.NumpyNdarray({ dtype: 'int16', shape: [-1, 2] }), output: new io.NumpyNdarray() },
  function ndarray_int16(x) {
    return x
  },
)
svc.api({ input: new io.JSON({ schema: user }), output: json }, function user_json(value) {
  return value
})
svc.api({ input: json, output: json }, function json_echo(value) {
  return value
})
svc.api({ input: json, output: json }, function pid(value) {
  return { value, pid: process.pid }
})
svc.api({ input: new io.Text(), output: new io.Text() }, function text(value) {
  return value
})
svc.api({ input: new io.File(), output: new io.File() }, function file(value) {
  return value
})
svc.api(
  {
    input: new io.Multipart({
      arr: new io.NumpyNdarray(),
      ann: new io.JSON(),
      text: new io.Text(),
      frame: new io.PandasDataFrame(),
      series: new io.PandasSeries(),
      image: new io.Image({ pilmode: null, maxPixels: 4_000_000 }),
      file: new io.File({ spoolAboveBytes: 512 }),
    }),
    output: new io.Multipart({ sizes: new io.NumpyNdarray(), text: new io.Text() }),
  },
  function form({ arr, text, frame, series, image, file }) {
    const sizes = [arr.data.length, frame.height, series.length, image.width, file.size]
    return { sizes: new NDArray(Float64Array.from(sizes), [sizes.length]), text }
  },
)

export default svc
