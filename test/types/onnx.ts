/**
 * Types of ONNX models: their answers are arrays of numbers unless the developer says otherwise. Compiled, never run.
 * @module
 */
import { io, type NDArray, Service } from 'serving'
import { loadOnnx, onnxRunner } from 'serving/onnx'

const scores = onnxRunner('scores', './scores.onnx')
const labels = onnxRunner<'int64'>('labels', './labels.onnx')
const svc = new Service('types', { runners: [scores, labels] })
const picture = new io.Image({ tensor: { size: [224, 224], batch: true } })

// Right: arithmetic on what a model answers.
svc.api({ input: picture, output: new io.JSON(), name: 'a' }, async (x, ctx) => {
  const y = await scores.predict(x, ctx)
  const [best, index] = [y.topK(1).values.data[0], y.argmax().data[0]]
  const { extra } = await scores.run({ x }, ctx)
  return { best: best * 100, max: Math.max(...y.data), index: index + 1, extra: extra.data[0] / 2 }
})
svc.api({ input: picture, output: new io.NumpyNdarray(), name: 'b' }, (x, ctx) =>
  scores.predict(x, ctx),
)
svc.api({ input: picture, output: new io.JSON(), name: 'c' }, async (x, ctx) => {
  const label: bigint = (await labels.predict(x, ctx)).data[0]
  const { run } = await loadOnnx<'float32'>('./scores.onnx')
  const answers: Record<string, NDArray<'float32'>> = await run({ x })
  return { label: Number(label), first: answers.y.data[0] * 2 }
})

// Wrong: numbers where the model was said to answer int64, and an array of any dtype as numbers.
svc.api({ input: picture, output: new io.JSON(), name: 'd' }, async (x, ctx) => {
  // @ts-expect-error TS2365: a bigint and a number
  return (await labels.predict(x, ctx)).data[0] * 1.5
})
export const sum = (x: NDArray) => {
  // @ts-expect-error TS2322: elements may be texts
  const first: number = x.data[0]
  const best: number = x.topK(1).values.data[0]
  return [first, best]
}
