/**
 * What the threads and processes of one ONNX model take: `npm run build`, and
 * `npx tsx --tsconfig bench/tsconfig.json bench/micro/onnx-memory.ts FILE [--threads 1,4]
 * [--isolation thread|process]`.
 *
 * For each number of threads a fresh process loads the model and calls it once in each thread. Printed is the memory
 * above that of a Runner of as many threads without a model: resident, and proportional, where pages that several
 * processes map count by their share. Linux only. The input of the model has one unknown dimension, which is 1 here.
 * @module
 */
import { execFileSync } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { NDArray, Runner } from 'serving'
import { onnxRunner } from 'serving/onnx'

const {
  values: { threads, isolation, child },
  positionals: [file],
} = parseArgs({
  allowPositionals: true,
  options: {
    threads: { type: 'string', default: '1,4' },
    isolation: { type: 'string', default: 'thread' },
    child: { type: 'boolean', default: false },
  },
})
const counts = threads.split(',').map(Number)
const kind = isolation as 'thread' | 'process'

interface Memory {
  readonly rss: number
  readonly pss: number
}

/** Of this process and its children. **Units**: MB. */
function memory(): Memory {
  const children = readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8')
    .trim()
    .split(/\s+/)
  const sums = { rss: 0, pss: 0 }
  for (const pid of ['self', ...children.filter(Boolean)]) {
    const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
    const mb = (name: string) =>
      Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1]) / 1000
    sums.rss += mb('Rss')
    sums.pss += mb('Pss')
  }
  return sums
}

/** Returns the memory of a Runner of so many threads, with the model or without any. */
async function measured(count: number): Promise<Memory> {
  const options = { threads: count, isolation: kind }
  if (file === '') {
    const module = new URL('../models/moves.ts', import.meta.url)
    const empty = new Runner<typeof import('../models/moves.ts')>('empty', {
      ...options,
      module,
      methods: { empty: {} },
    })
    await empty.start()
    return memory()
  }
  const runner = onnxRunner('model', file, { ...options, intraOpThreads: 1 })
  await runner.start()
  const { inputs } = await runner.describe()
  const [{ shape }] = inputs
  const dims = shape.map((size) => Math.max(1, size))
  const size = dims.reduce((product, dim) => product * dim, 1)
  const call = () => runner.predict(new NDArray(new Float32Array(size), dims))
  await Promise.all(Array.from({ length: 4 * count }, call))
  return memory()
}

if (child) {
  console.log(JSON.stringify(await measured(counts[0])))
  process.exit(0)
}
const inChild = (name: string, count: number): Memory => {
  const program = ['--import', 'tsx', fileURLToPath(import.meta.url), name, '--child']
  const args = [...program, '--threads', String(count), '--isolation', kind]
  const tsconfig = fileURLToPath(new URL('../tsconfig.json', import.meta.url))
  const env = { ...process.env, TSX_TSCONFIG_PATH: tsconfig }
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8', env }))
}
console.log(`${file}: ${(statSync(file).size / 1e6).toFixed(0)} MB, ${isolation}`)
for (const count of counts) {
  const [empty, full] = [inChild('', count), inChild(file, count)]
  const more = (field: keyof Memory) => (full[field] - empty[field]).toFixed(0)
  console.log(`${count}: ${more('rss')} MB resident, ${more('pss')} MB proportional`)
}
