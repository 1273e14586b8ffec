/**
 * What a run of the example models costs by rows in a batch, whether it keeps the event loop, and what preparing a
 * picture costs.
 * Run: `npx tsx bench/micro/onnx-run.ts`
 * @module
 */
import { readFileSync } from 'node:fs'
import { prepare } from '../../examples/digits/digits.ts'
import { NDArray } from '../../src/index.ts'
import { loadOnnx } from '../../src/runner/onnx/onnxruntime.ts'
import { besideBaseline } from './baseline.ts'

const examples = new URL('../../examples/', import.meta.url)
const models = [
  { name: 'iris', output: 'probabilities' },
  { name: 'digits', output: 'probabilities' },
]

/** Median over rounds in which the contenders take turns; the first round warms up. **Units**: microseconds a call. */
async function compare(contenders: readonly (() => unknown)[], rounds = 9): Promise<number[]> {
  const times = contenders.map((): number[] => [])
  for (let round = 0; round <= rounds; round++) {
    for (const [i, contender] of contenders.entries()) {
      const start = performance.now()
      let calls = 0
      for (; performance.now() - start < 40; calls++) await contender()
      if (round > 0) times[i].push(((performance.now() - start) / calls) * 1000)
    }
  }
  return times.map((list) => list.sort((a, b) => a - b)[list.length >> 1])
}

/** Returns the share of a promise's time in which the event loop was blocked. */
async function blockedShare(work: () => Promise<unknown>): Promise<number> {
  let [last, longest] = [performance.now(), 0]
  let done = false
  const tick = () => {
    const now = performance.now()
    longest = Math.max(longest, now - last)
    last = now
    if (!done) setImmediate(tick)
  }
  setImmediate(tick)
  const start = performance.now()
  await work()
  const took = performance.now() - start
  done = true
  await new Promise(setImmediate)
  return longest / took
}

const { rows } = JSON.parse(readFileSync(new URL('digits/expected.json', examples), 'utf8')) as {
  rows: { cells: number[]; predicted: number }[]
}

for (const { name, output } of models) {
  const model = await loadOnnx(new URL(`${name}/model.onnx`, examples), { outputs: [output] })
  const [input] = model.inputs
  const columns = input.shape[1]
  const batch = (count: number) => ({
    [input.name]: new NDArray(
      Float32Array.from(
        { length: count * columns },
        (_, i) => rows[Math.floor(i / columns) % rows.length].cells[i % columns],
      ),
      [count, columns],
    ),
  })
  const sizes = [1, 8, 64, 512]
  const feeds = sizes.map(batch)
  if (name === 'digits') {
    const { data } = (await model.run(feeds[2]))[output]
    const wrong = rows.slice(0, 64).filter(({ predicted }, i) => {
      const odds = (data as Float32Array).subarray(i * 10, i * 10 + 10)
      return odds.indexOf(Math.max(...odds)) !== predicted
    })
    if (wrong.length > 0)
      throw new Error(
        `the digits model reads ${wrong.length} of 64 rows otherwise than scikit-learn`,
      )
  }
  const times = await compare(feeds.map((feed) => () => model.run(feed)))
  const cost = sizes.map(
    (size, i) => `${size}: ${times[i].toFixed(1)} µs (${(times[i] / size).toFixed(2)} a row)`,
  )
  const share = besideBaseline(`${name}, a row at 64`, times[2] / 64 / times[0])
  console.log(`${name.padEnd(8)} ${cost.join(', ')}; a row at 64 costs ${share} of one alone`)
  const large = batch(20_000)
  const shares: number[] = []
  for (let i = 0; i < 9; i++) shares.push(await blockedShare(() => model.run(large)))
  const blocked = shares.sort((a, b) => a - b)[4].toFixed(2)
  console.log(`${' '.repeat(8)} 20000 rows: the event loop is blocked for ${blocked} of the run`)
  await model.release()
}

const sizes = [28, 140, 1000]
const pictures = sizes.map((size) => {
  const inside = (i: number) => i > size / 4 && i < (size * 3) / 4
  const pixels = new Uint8Array(size * size).map((_, i) =>
    inside(i % size) && inside(Math.floor(i / size)) ? 0 : 255,
  )
  return new NDArray(pixels, [size, size], 'uint8')
})
const times = await compare(pictures.map((picture) => () => prepare(picture)))
console.log(
  `prepare  ${sizes.map((size, i) => `${size}×${size}: ${times[i].toFixed(1)} µs`).join(', ')}`,
)
