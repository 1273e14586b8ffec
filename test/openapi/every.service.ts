/** One API for each descriptor, which returns what it received; for documents and clients made from them. */
import { type HttpResponse, io, NDArray, Service } from 'serving'
import { z } from 'zod'

const svc = new Service('Every_Descriptor', {
  doc: 'An API for each descriptor.',
  openapi: { include: ['health', 'metrics', 'connect', 'oip'] },
})

const matrix = { dtype: 'float32', shape: [-1, 2], enforceDtype: true, enforceShape: true } as const
svc.api(
  {
    input: new io.NumpyNdarray(matrix),
    output: new io.NumpyNdarray(matrix),
    doc: 'Returns the array.',
  },
  function array(x) {
    return x
  },
)
svc.api({ input: new io.NumpyNdarray(), output: new io.NumpyNdarray() }, function any_array(x) {
  return x
})
svc.api({ input: new io.PandasDataFrame(), output: new io.PandasDataFrame() }, function frame(x) {
  return x
})
const typed = {
  dtype: { a: 'float64', b: 'int64' },
  columns: ['a', 'b'],
  shape: [-1, 2],
  enforceShape: true,
} as const
svc.api(
  {
    input: new io.PandasDataFrame(typed),
    output: new io.PandasDataFrame({ ...typed, orient: 'split' }),
  },
  function typed_frame(x) {
    return x
  },
)
svc.api(
  {
    input: new io.PandasDataFrame({ defaultFormat: 'csv' }),
    output: new io.PandasDataFrame({ defaultFormat: 'csv' }),
  },
  function csv(x) {
    return x
  },
)
svc.api(
  {
    input: new io.PandasDataFrame({ defaultFormat: 'parquet' }),
    output: new io.PandasDataFrame({ defaultFormat: 'parquet' }),
  },
  function parquet(x) {
    return x
  },
)
svc.api(
  { input: new io.PandasSeries(), output: new io.PandasSeries({ dtype: 'float64' }) },
  function series(x) {
    return x
  },
)
svc.api({ input: new io.JSON(), output: new io.JSON() }, function json(x) {
  return x
})

const item = z.object({ name: z.string(), amount: z.int().min(1).default(1) }).meta({ id: 'Item' })
const tree = z.object({
  value: z.number(),
  get children() {
    return z.array(tree)
  },
})
const order = z.object({
  items: z.array(item),
  at: z.iso.datetime().optional(),
  tree: tree.optional(),
})
svc.api(
  {
    input: new io.JSON({ schema: order }),
    output: new io.JSON({ schema: z.object({ total: z.number() }) }),
  },
  function total({ items }) {
    return { total: items.reduce((sum, { amount }) => sum + amount, 0) }
  },
)
svc.api(
  { input: new io.JSON({ schema: tree }), output: new io.JSON({ schema: tree }) },
  function grow(x) {
    return { value: x.value + 1, children: [x] }
  },
)
svc.api({ input: new io.Text(), output: new io.Text() }, function text(x) {
  return x
})
svc.api(
  { input: new io.Text(), output: new io.Text({ contentType: 'text/event-stream' }) },
  async function* words(x) {
    for (const word of x.split(' ')) yield { data: word }
  },
)
const png = { mimeType: 'image/png', allowedMimeTypes: ['image/png', 'image/jpeg'] } as const
svc.api({ input: new io.Image(png), output: new io.Image(png) }, function image(x) {
  return x
})
svc.api({ input: new io.File(), output: new io.File() }, function file(x) {
  return x
})
svc.api(
  {
    input: new io.Multipart({
      arr: new io.NumpyNdarray(),
      note: new io.Text(),
      pic: new io.Image(png),
      doc: io.optional(new io.File()),
    }),
    output: new io.Multipart({ note: new io.Text(), arr: new io.NumpyNdarray() }),
  },
  function form({ arr, note }) {
    return { arr, note }
  },
)
svc.api(
  {
    input: new io.Multipart({ images: io.many(new io.File()), note: io.optional(new io.Text()) }),
    output: new io.JSON(),
  },
  function upload({ images, note }) {
    return { sizes: images.map(({ size }) => size), note: note ?? null }
  },
)

/** Text in capitals, of a media type of its own. */
class Shout extends io.IODescriptor<string> {
  readonly mimeType = 'text/x-shout'
  fromHttpRequest = (request: { peek(): Uint8Array }) => Buffer.from(request.peek()).toString()
  toHttpResponse = (text: string): HttpResponse => ({
    headers: [['content-type', this.mimeType]],
    body: text.toUpperCase(),
  })
}
svc.api({ input: new Shout(), output: new Shout() }, function shout(x) {
  return x
})
svc.api(
  { input: io.NumpyNdarray.fromSample(NDArray.from([[1.5, 2.5]])), output: new io.JSON() },
  function sample(x) {
    return x.shape
  },
)

const query = z.object({
  top: z.coerce.number().int().describe('How many.'),
  tag: z.array(z.string()).optional(),
})
svc.get('/labels', { query, output: new io.JSON(), doc: 'Names.' }, function labels({ top }) {
  return ['a', 'b', 'c'].slice(0, top)
})
svc.get('/any', { output: new io.Text() }, function anything(parameters) {
  return Object.keys(parameters).join()
})

svc.live(
  'conversation',
  { input: new io.Text(), output: new io.NumpyNdarray(), doc: 'Both ways.' },
  async function* () {},
)

export default svc
