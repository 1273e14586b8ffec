/**
 * Models in runners: the cost of a thread for a small call, and the gain of batches.
 * @module
 */
import { readFileSync } from 'node:fs'
import type { BenchCase, CasePlan } from './case.ts'

/** One of the pictures that the digits network was tested on. */
export function digitsSample(): {
  readonly cells: number[]
  readonly predicted: number
  readonly probabilities: number[]
} {
  const file = new URL('../../examples/digits/expected.json', import.meta.url)
  return JSON.parse(readFileSync(file, 'utf8')).rows[0]
}

/** One array of one row in, one array out; bare gives `answer` without any work. */
function row(
  path: string,
  numbers: readonly number[],
  answer: string,
  isRight: (numbers: number[]) => boolean,
): Omit<BenchCase, 'name'> {
  return {
    path,
    contentType: 'application/json',
    body: Buffer.from(JSON.stringify([numbers])),
    connections: 64,
    bare: { contentType: 'application/json', body: Buffer.from(answer) },
    isRight: (bytes) => isRight(JSON.parse(bytes.toString()).flat()),
  }
}

const iris = [5.1, 3.5, 1.4, 0.2]
const isSum = ([sum]: number[]) => Math.abs(sum - 10.2) < 1e-5

/** A picture of any size to the label of a network in an ONNX file: all of examples/shapes. */
function label(): Omit<BenchCase, 'name'> {
  return {
    path: '/classify',
    paths: { triton: '/v2/models/shapes/infer' },
    contentType: 'image/png',
    // Triton takes the whole body as the only element of the only input.
    headers: { 'inference-header-content-length': '0' },
    body: readFileSync(new URL('../../examples/shapes/held-out/star-123.png', import.meta.url)),
    connections: 64,
    bare: { contentType: 'application/json', body: Buffer.from('{"shape":"star"}') },
    isRight: (answer) => /"star"|star$/.test(answer.toString()),
  }
}

/** Runners. serving is the runner that the job is about, batched where the job is about batches. */
export const runnerCases: readonly CasePlan[] = [
  {
    name: 'runner, a small call',
    isQuick: true,
    contenders: ['bare', 'serving', 'model inline', 'batched'],
    targets: { 'model inline': 0.5 },
    make: () => row('/runner_small', iris, '[10.2]', isSum),
  },
  {
    name: 'runner, the digits network in batches',
    isQuick: true,
    contenders: ['bare', 'serving', 'unbatched', 'no model'],
    targets: { unbatched: 3 },
    make() {
      const { cells, predicted, probabilities } = digitsSample()
      const isDigit = (answer: number[]) =>
        answer.length === 10 && answer.indexOf(Math.max(...answer)) === predicted
      return row('/runner_digits', cells, JSON.stringify([probabilities]), isDigit)
    },
  },
  {
    name: 'runner, 2 ms a call and 10 µs a row in batches',
    isQuick: false,
    contenders: ['bare', 'serving', 'unbatched', 'model inline'],
    targets: { unbatched: 3 },
    make: () => row('/runner_2ms', iris, '[10.2]', isSum),
  },
  {
    name: 'picture 123×123 PNG to ONNX to label',
    isQuick: true,
    contenders: ['bare', 'serving', 'bentoml', 'fastapi', 'triton'],
    targets: {},
    make: label,
  },
]
