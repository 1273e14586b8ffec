/**
 * The trained perceptron of `train.py`: standardisation is folded into its first layer.
 * @module
 */
import { readFileSync } from 'node:fs'
import { NDArray } from 'serving'

/** The file that `train.py` writes. **Units**: averages of the training set, in cm. */
interface TrainedModel {
  readonly species: readonly string[]
  readonly layers: readonly {
    readonly weights: readonly number[][]
    readonly bias: readonly number[]
  }[]
  readonly averages_cm: Readonly<Record<string, Readonly<Record<Measurement, number>>>>
  readonly held_out_accuracy: number
}

type Measurement = 'sepal_length' | 'sepal_width' | 'petal_length' | 'petal_width'

/** The model as it was trained. */
export const model = JSON.parse(
  readFileSync(new URL('./model.json', import.meta.url), 'utf8'),
) as TrainedModel

const [hidden, output] = model.layers.map(({ weights, bias }) => ({
  weights: Float64Array.from(weights.flat()),
  bias: Float64Array.from(bias),
}))

/**
 * Returns the probability of each species for measurements.
 * **Shape**: `[n, 4]` in centimetres, in the order of `features`; out `[n, 3]`, in the order of `species`.
 */
export function probabilities(x: NDArray<'float32'>): NDArray<'float64'> {
  const rows = x.shape[0]
  const units = dense(x.data, rows, hidden).map((sum) => Math.max(sum, 0))
  const odds = dense(units, rows, output)
  const species = model.species.length
  for (let row = 0; row < rows; row++) softmax(odds.subarray(row * species, (row + 1) * species))
  return new NDArray(odds, [rows, species])
}

/** Returns the likeliest species of measurements. **Shape**: `[n, 4]` in centimetres; out `[n]`. */
export function predict(x: NDArray<'float32'>): NDArray<'str'> {
  const { data, shape } = probabilities(x)
  const [rows, species] = shape
  return new NDArray(
    Array.from({ length: rows }, (_, row) => {
      const odds = data.subarray(row * species, (row + 1) * species)
      return model.species[odds.indexOf(Math.max(...odds))]
    }),
  )
}

/** `x @ weights + bias`. */
function dense(
  x: Float32Array | Float64Array,
  rows: number,
  layer: { weights: Float64Array; bias: Float64Array },
) {
  const { weights, bias } = layer
  const outputs = bias.length
  const inputs = weights.length / outputs
  const sums = new Float64Array(rows * outputs)
  for (let row = 0; row < rows; row++) {
    for (let o = 0; o < outputs; o++) {
      let sum = bias[o]
      for (let i = 0; i < inputs; i++) sum += x[row * inputs + i] * weights[i * outputs + o]
      sums[row * outputs + o] = sum
    }
  }
  return sums
}

/** Converts logits to probabilities, in place. */
function softmax(logits: Float64Array): void {
  // Less the greatest, so that no exponential overflows.
  const greatest = Math.max(...logits)
  let total = 0
  for (let i = 0; i < logits.length; i++) {
    logits[i] = Math.exp(logits[i] - greatest)
    total += logits[i]
  }
  for (let i = 0; i < logits.length; i++) logits[i] /= total
}
