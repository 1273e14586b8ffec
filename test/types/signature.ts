/**
 * Types of models with a signature: from a picture or a request over the model to the answer. Compiled, never run.
 * @module
 */
import { type Axis, io, NDArray, Service } from 'serving'
import { createClient } from 'serving/client'
import { onnxRunner } from 'serving/onnx'

const signature = {
  inputs: { pixels: { dtype: 'float32', shape: ['N', 3, 224, 224] } },
  outputs: { odds: { dtype: 'float32', shape: ['N', 10] } },
} as const
const words = {
  inputs: {
    ids: { dtype: 'int64', shape: ['batch', 'sequence'] },
    mask: { dtype: 'float32', shape: ['batch', 'sequence'] },
  },
  outputs: {
    hidden: { dtype: 'float32', shape: ['batch', 'sequence', 64] },
    any: { dtype: 'float16' },
  },
} as const
const resnet = onnxRunner('resnet', './resnet.onnx', { signature })
const bert = onnxRunner('bert', './bert.onnx', { signature: words, threads: 2 })
const svc = new Service('types', { runners: [resnet, bert] })
const exact = { enforceDtype: true, enforceShape: true } as const
const odds = new io.NumpyNdarray({ ...signature.outputs.odds, ...exact })
const pixels = new io.NumpyNdarray({ ...signature.inputs.pixels, ...exact })
const form = new io.Multipart({
  ids: new io.NumpyNdarray({ ...words.inputs.ids, ...exact }),
  mask: new io.NumpyNdarray({ ...words.inputs.mask, ...exact }),
})
const hidden = new io.NumpyNdarray({ ...words.outputs.hidden, ...exact })

// Right: the tensors of a picture are those of the model, and its answers are those of the API.
const picture = new io.Image({ tensor: { size: [224, 224], batch: true } })
svc.api({ input: picture, output: odds, name: 'a' }, (x, ctx) => resnet.predict(x, ctx))
const predict = svc.api({ input: pixels, output: odds, name: 'b' }, async (x, ctx) => {
  const { odds } = await resnet.run({ pixels: x }, ctx)
  const columns: 10 = odds.shape[1]
  return odds.reshape([-1, columns])
})
svc.api({ input: form, output: hidden, name: 'c' }, async (x, ctx) => {
  const { hidden, any } = await bert.run(x, ctx)
  const [batch, sequence, width]: readonly [Axis<'batch'>, Axis<'sequence'>, 64] = hidden.shape
  const [bits, axes]: [Uint16Array, readonly number[]] = [any.data, any.shape]
  return bits.length > axes.length ? hidden : new NDArray(hidden.data, [batch, sequence, width])
})
svc.api({ input: picture, output: odds, name: 'd' }, async (x, ctx) => {
  const { data, shape } = await resnet.predict(new NDArray(x.data, [1, 3, 224, 224]), ctx)
  return new NDArray(data.map(Math.exp), shape)
})
svc.api({ input: picture, output: new io.NumpyNdarray(), name: 'e' }, async (x, ctx) => {
  return (await resnet.predict(x, ctx)).softmax().topK(5).indexes
})

// Wrong: between the picture and the model.
const small = new io.Image({ tensor: { size: [192, 224], batch: true } })
// @ts-expect-error TS2345: another height
svc.api({ input: small, output: odds, name: 'f' }, (x, ctx) => resnet.predict(x, ctx))
const single = new io.Image({ tensor: { size: [224, 224] } })
// @ts-expect-error TS2345: no batch
svc.api({ input: single, output: odds, name: 'g' }, (x, ctx) => resnet.predict(x, ctx))
const last = new io.Image({ tensor: { size: [224, 224], batch: true, layout: 'hwc' } })
// @ts-expect-error TS2345: channels last
svc.api({ input: last, output: odds, name: 'h' }, (x, ctx) => resnet.predict(x, ctx))
const grey = new io.Image({ pilmode: 'L', tensor: { size: [224, 224], batch: true } })
// @ts-expect-error TS2345: one channel
svc.api({ input: grey, output: odds, name: 'i' }, (x, ctx) => resnet.predict(x, ctx))
const levels = new io.Image({ tensor: { size: [224, 224], batch: true, dtype: 'uint8' } })
// @ts-expect-error TS2345: bytes
svc.api({ input: levels, output: odds, name: 'j' }, (x, ctx) => resnet.predict(x, ctx))

// Wrong: between a request and the model.
svc.api({ input: form, output: hidden, name: 'k' }, async ({ ids, mask }, ctx) => {
  // @ts-expect-error TS2322: ids are int64
  await bert.run({ ids: mask, mask }, ctx)
  // @ts-expect-error TS2741: without mask
  await bert.run({ ids }, ctx)
  // @ts-expect-error TS2353: no such input
  await bert.run({ ids, mask, types: ids }, ctx)
  const [batch, sequence] = ids.shape
  // @ts-expect-error TS2322: turned
  await bert.run({ ids: new NDArray(ids.data, [sequence, batch]), mask }, ctx)
  // @ts-expect-error TS2339: no such output
  const { pooled } = await bert.run({ ids, mask }, ctx)
  return pooled
})
svc.api({ input: new io.NumpyNdarray({ dtype: 'float32' }), output: odds, name: 'l' }, (x, ctx) =>
  // @ts-expect-error TS2345: of any shape
  resnet.predict(x, ctx),
)

// Wrong: between the model and the answer.
const eleven = new io.NumpyNdarray({ dtype: 'float32', shape: ['N', 11], ...exact })
// @ts-expect-error TS2322: another number of classes
svc.api({ input: picture, output: eleven, name: 'm' }, (x, ctx) => resnet.predict(x, ctx))
const doubles = new io.NumpyNdarray({ dtype: 'float64', shape: ['N', 10], ...exact })
// @ts-expect-error TS2322: another dtype
svc.api({ input: picture, output: doubles, name: 'n' }, (x, ctx) => resnet.predict(x, ctx))
// @ts-expect-error TS2345: classes, no odds
svc.api({ input: picture, output: odds, name: 'o' }, async (x, ctx) => {
  return (await resnet.predict(x, ctx)).argmax()
})
const turned = new io.NumpyNdarray({ dtype: 'float32', shape: ['sequence', 'batch', 64], ...exact })
// @ts-expect-error TS2345: turned
svc.api({ input: form, output: turned, name: 'p' }, async (x, ctx) => {
  return (await bert.run(x, ctx)).hidden
})

export async function calls(): Promise<void> {
  const client = createClient<{ predict: typeof predict }>('http://localhost:3000')
  const pixels = { shape: [1, 3, 224, 224], data: new Float32Array(150528) } as const
  const { shape, data } = await client.predict(pixels)
  const [columns, elements]: [10, Float32Array] = [shape[1], data]
  // @ts-expect-error TS2345: another width
  await client.predict({ ...pixels, shape: [1, 3, 224, 225] })
  // @ts-expect-error TS2345: another dtype
  await client.predict({ ...pixels, data: new Float64Array(150528) })
  void [columns, elements]
}
