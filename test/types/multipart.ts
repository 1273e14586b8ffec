/**
 * Types of functions behind File and Multipart. Compiled, never run.
 * @module
 */
import { BinaryFile, io, NDArray, Service } from 'serving'
import { z } from 'zod'

const svc = new Service('types')
const Flower = z.strictObject({
  name: z.string(),
  at: z.string().transform((value) => new Date(value)),
})
const input = new io.Multipart({
  file: new io.File(),
  arr: new io.NumpyNdarray({ dtype: 'float32' }),
  flower: new io.JSON({ schema: Flower }),
  text: new io.Text(),
})
const output = new io.Multipart({
  arr: new io.NumpyNdarray(),
  lines: new io.Text(),
  file: new io.File(),
})
const json = new io.JSON()

// Right: each part comes as what its descriptor makes of it, and goes as what it takes.
svc.api({ input, output: json, name: 'a' }, ({ file, arr, flower, text }) => {
  const size: number = file.size
  const data: Float32Array = arr.data
  const at: Date = flower.at
  return [size, data, at, text.length]
})
svc.api({ input, output, name: 'b' }, async ({ file, arr, text }) => ({
  arr,
  lines: text.split('\n'),
  file,
}))
svc.api({ input, output, name: 'c' }, ({ file }, ctx) => {
  ctx.onEnd(() => {})
  async function* lines() {
    for await (const piece of file.stream()) yield `${piece.length}\n`
  }
  return { arr: new NDArray(Float64Array.of(1)), lines: lines(), file: file.bytes }
})
svc.api(
  { input: new io.File(), output: new io.File(), name: 'd' },
  (file) => new BinaryFile(file.bytes, { name: 'a' }),
)
const received: io.MultipartIn<{ a: io.NumpyNdarray; b: io.JSON }> = {
  a: new NDArray(['x']),
  b: { c: [1] },
}
const sample: Promise<io.File> = io.File.fromSample('a.pdf', { mimeType: 'a/b', anything: 1 })

const album = new io.Multipart({ images: io.many(new io.File()), note: io.optional(new io.Text()) })
svc.api({ input: album, output: album, name: 'album' }, ({ images, note }) => {
  const names: (string | undefined)[] = images.map(({ name }) => name)
  const length: number | undefined = note?.length
  return names.length > (length ?? 0) ? { images, note: 'x' } : { images: [] }
})

// Wrong: parts that are not there or of another type.
// @ts-expect-error TS2339: there is no such part
svc.api({ input, output: json, name: 'e' }, ({ image }) => image)
// @ts-expect-error TS2339: the file is no string
svc.api({ input, output: json, name: 'f' }, ({ file }) => file.trim())
// @ts-expect-error TS2322: a part is missing in the result
svc.api({ input, output, name: 'g' }, ({ arr, text }) => ({ arr, lines: text }))
// @ts-expect-error TS2322: a string is no array
svc.api({ input, output, name: 'h' }, ({ file, text }) => ({ arr: text, lines: text, file }))
// @ts-expect-error TS2322: a string is no file
svc.api({ input: new io.Text(), output: new io.File(), name: 'i' }, (text) => text)

// Wrong: what is no descriptor, or no option.
// @ts-expect-error TS2322: a class is no descriptor
new io.Multipart({ text: io.Text })
// @ts-expect-error TS2561: no such option
new io.Multipart({ text: new io.Text() }, { maxPart: 1 })
// @ts-expect-error TS2322: there is one kind
new io.File({ kind: 'textio' })
// @ts-expect-error TS2345: a string is no content
new BinaryFile('text')

export { received, sample }

// Right: an example has each part as its descriptor takes it: a path, lists, JSON before its schema changes it.
const form = { file: '/tmp/a.wav', arr: [1, 2], flower: { name: 'a', at: '2024-01-01' }, text: 'b' }
svc.api(
  { input, output: json, name: 'with_examples', examples: [{ name: 'one', input: form }] },
  () => 1,
)
// Wrong: a part of another kind.
svc.api(
  {
    input,
    output: json,
    name: 'with_wrong_example',
    // @ts-expect-error TS2322: a number is no text
    examples: [{ name: 'one', input: { ...form, text: 3 } }],
  },
  () => 1,
)
