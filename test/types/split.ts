/**
 * Types of splits: they have the methods of their stable version, and other versions must have these. Compiled, never
 * run.
 * @module
 */
import { NDArray, Runner } from 'serving'
import { onnxRunner } from 'serving/onnx'
import { Split } from 'serving/split'

interface Model {
  predict(x: NDArray<'float32'>): Promise<NDArray<'float32'>>
  tokens(prompt: string): AsyncGenerator<string>
}

const module = new URL('./model.ts', import.meta.url)
const methods = { predict: {}, tokens: { stream: true } } as const
const stable = new Runner<{ load(): Model }>('one', { module, methods })
const canary = new Runner<{ load(): Model }>('two', { module, methods })
const other = new Runner<{ load(): { predict(x: string): number } }>('three', {
  module,
  methods: { predict: {} },
})
const x = new NDArray(Float32Array.of(1)) as NDArray<'float32'>

// Right: the methods of the stable version.
const split = new Split('model', { stable, canary, weights: { canary: 0.05 }, sticky: 'caller' })
export const array: Promise<NDArray<'float32'>> = split.predict(x)
export const tokens: AsyncIterableIterator<string> = split.tokens('a')
export const pictures = new Split('pictures', {
  stable: onnxRunner('first', './first.onnx'),
  shadow: onnxRunner('second', './second.onnx'),
})
export const best = async () => (await pictures.predict(x)).data[0] * 2
export const url = new Split('remote', {
  stable: new Runner('here', { url: 'http://a' }),
  canary: new Runner('there', { url: 'grpc://b' }),
})

// Wrong: another argument, a method that is not there, and a version without the methods of the stable one.
// @ts-expect-error TS2345: another type of array
split.predict('text')
// @ts-expect-error TS2339: no method of this name
split.classify(x)
// @ts-expect-error TS2322: a canary with other methods
new Split('model', { stable, canary: other })
// @ts-expect-error TS2322: a shadow with other methods
new Split('model', { stable, shadow: other })
// @ts-expect-error TS2353: no version of this name
new Split('model', { stable, weights: { next: 0.1 } })
