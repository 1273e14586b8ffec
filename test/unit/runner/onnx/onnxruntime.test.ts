import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { BadInput, type DType, InvalidArgument, NDArray } from 'serving'
import { afterAll, describe, expect, it } from 'vitest'
import { dataConstructor } from '../../../../src/core/dtype.ts'
import {
  loadOnnx,
  type OnnxModel,
  type OnnxOptions,
  onnxruntime,
} from '../../../../src/runner/onnx/onnxruntime.ts'
import { runWithout } from '../../core/modules/without-package.ts'

/** An array as make.py writes it. */
interface Plain {
  readonly dtype: DType
  readonly shape: readonly number[]
  readonly data: readonly (number | string | boolean)[]
}

/** What onnxruntime's Python package answered. */
interface Case {
  readonly model: string
  readonly feeds: Readonly<Record<string, Plain>>
  readonly answers: Readonly<Record<string, Plain>>
}

const fixtures = new URL('../../../fixtures/onnx/', import.meta.url)
const fileOf = (name: string) => fileURLToPath(new URL(name, fixtures))
const { cases } = JSON.parse(readFileSync(fileOf('expected.json'), 'utf8')) as {
  cases: readonly Case[]
}

function arrayOf({ dtype, shape, data }: Plain): NDArray {
  if (dtype === 'str') return new NDArray(data as string[], shape, dtype)
  const wide = dtype === 'int64' || dtype === 'uint64'
  const numbers = dataConstructor(dtype)
  const container = new numbers(data.length)
  data.forEach((value, i) => {
    container[i] = (wide ? BigInt(value as string) : Number(value)) as never
  })
  return new NDArray(container, shape, dtype)
}

const arraysOf = (plain: Case['feeds']) =>
  Object.fromEntries(Object.entries(plain).map(([name, value]) => [name, arrayOf(value)]))

const open: OnnxModel[] = []
async function load(name: string, options?: OnnxOptions): Promise<OnnxModel> {
  const model = await loadOnnx(fileOf(name), options)
  open.push(model)
  return model
}
afterAll(() => Promise.all(open.map((model) => model.release())))

const rows = (count: number, columns = 3) =>
  new NDArray(new Float32Array(count * columns), [count, columns])

/** Returns what a promise is rejected with. */
async function failureOf(promise: Promise<unknown>): Promise<Error> {
  const error = await promise.then(
    () => undefined,
    (reason) => reason,
  )
  expect(error).toBeInstanceOf(Error)
  return error as Error
}

describe('onnxruntime', () => {
  it('sends no telemetry: it makes no data base for it in the home directory', () => {
    const home = mkdtempSync(join(tmpdir(), 'serving-home-'))
    try {
      const file = new URL('../../../../dist/runner/onnx/index.js', import.meta.url)
      const script = `
        const { loadOnnx } = await import(${JSON.stringify(file)})
        await loadOnnx(${JSON.stringify(fileOf('scale.onnx'))})
        console.log('loaded')`
      const { ORT_DISABLE_TELEMETRY: _, XDG_CACHE_HOME: __, ...env } = process.env
      const options = { env: { ...env, HOME: home }, encoding: 'utf8' } as const
      expect(
        execFileSync(process.execPath, ['--input-type=module', '--eval', script], options),
      ).toBe('loaded\n')
      expect(readdirSync(home)).toEqual([])
    } finally {
      rmSync(home, { recursive: true })
    }
  })
})

describe('a loaded ONNX model', () => {
  it('tells names, dtypes and shapes of its inputs and outputs, -1 for any size', async () => {
    const { inputs, outputs } = await load('classes.onnx')
    expect(inputs).toEqual([{ name: 'rows', dtype: 'float32', shape: [-1, 3] }])
    expect(outputs).toEqual([
      { name: 'scores', dtype: 'float32', shape: [-1, 2] },
      { name: 'class', dtype: 'int64', shape: [-1] },
      { name: 'name', dtype: 'str', shape: [-1] },
    ])
    expect((await load('scale.onnx')).inputs).toEqual([
      { name: 'matrix', dtype: 'float64', shape: [2, 3] },
      { name: 'factor', dtype: 'float64', shape: [] },
    ])
  })

  it.each(cases.map(({ model, feeds, answers }, i) => ({ i, model, feeds, answers })))(
    "answers as onnxruntime's Python package does: case $i, $model",
    async ({ model, feeds, answers }) => {
      const result = await (await load(model)).run(arraysOf(feeds))
      expect(Object.keys(result)).toEqual(Object.keys(answers))
      for (const [name, wanted] of Object.entries(arraysOf(answers))) {
        expect({ ...result[name], name }).toEqual({ ...wanted, name })
      }
    },
  )

  it('computes only the outputs that were asked for, in that order', async () => {
    const model = await load('classes.onnx', { outputs: ['name', 'scores'] })
    expect(model.outputs.map(({ name }) => name)).toEqual(['name', 'scores'])
    expect(Object.keys(await model.run({ rows: rows(2) }))).toEqual(['name', 'scores'])
  })

  it('reads a view into a larger buffer, and shared memory', async () => {
    const model = await load('classes.onnx', { outputs: ['scores'] })
    const numbers = [9, 9, 9, 1, 2, 3]
    const view = Float32Array.from(numbers).subarray(3)
    const shared = new Float32Array(new SharedArrayBuffer(24))
    shared.set(numbers)
    // By the weights of make.py: 1 + 0.5·2 - 2·3 and -1 + 0.25·2 + 3·3.
    for (const data of [view, shared.subarray(3)]) {
      expect((await model.run({ rows: new NDArray(data, [1, 3]) })).scores.data).toEqual(
        Float32Array.of(-4, 8.5),
      )
    }
  })

  it('hands out memory of its own: later runs, the input and the model do not change with it', async () => {
    const model = await load('types.onnx')
    const feeds = arraysOf(cases[0].feeds)
    const first = await model.run(feeds)
    ;(first.float32_out.data as Float32Array).fill(7)
    structuredClone(first.int32_out.data, {
      transfer: [(first.int32_out.data as Int32Array).buffer as ArrayBuffer],
    })
    expect(feeds).toEqual(arraysOf(cases[0].feeds))
    expect(await model.run(feeds)).toEqual(arraysOf(cases[0].answers))
  })

  it('takes runs that overlap', async () => {
    const model = await load('classes.onnx', { outputs: ['class'] })
    const counts = [1, 5, 2, 9]
    const results = await Promise.all(counts.map((count) => model.run({ rows: rows(count) })))
    expect(results.map((result) => result.class.shape)).toEqual(counts.map((count) => [count]))
  })

  it('refuses to run once it is released, and may be released again', async () => {
    const model = await loadOnnx(fileOf('classes.onnx'))
    await model.release()
    await model.release()
    expect(await failureOf(model.run({ rows: rows(1) }))).toBeInstanceOf(InvalidArgument)
  })
})

describe('wrong inputs of an ONNX model', () => {
  it('are refused by name, with the names that it has', async () => {
    const model = await load('classes.onnx')
    const wrong: Record<string, NDArray>[] = [
      {},
      { row: rows(1) },
      { rows: rows(1), more: rows(1) },
    ]
    for (const feeds of wrong) {
      const error = await failureOf(model.run(feeds))
      expect(error).toBeInstanceOf(InvalidArgument)
      expect(error.message).toMatch(/expected inputs rows for .*classes\.onnx, received "/)
    }
  })

  it('are refused by dtype and by shape as BadInput that says what was expected and received', async () => {
    const model = await load('classes.onnx')
    const dtype = await failureOf(model.run({ rows: new NDArray(new Float64Array(3), [1, 3]) }))
    expect(dtype).toBeInstanceOf(BadInput)
    expect(dtype).toMatchObject({
      message: 'expected dtype float32 for input rows, received dtype float64',
      reason: 'dtype',
      path: 'rows',
    })
    for (const [array, shown] of [
      [rows(2, 4), '(2, 4)'],
      [rows(1).reshape([3]), '(3,)'],
    ] as const) {
      const shape = await failureOf(model.run({ rows: array }))
      expect(shape).toBeInstanceOf(BadInput)
      expect(shape).toMatchObject({
        message: `expected shape (-1, 3) for input rows, received shape ${shown}`,
        reason: 'shape',
        path: 'rows',
      })
    }
  })

  it('are refused where a string holds NUL, which onnxruntime would cut off', async () => {
    const feeds = { ...arraysOf(cases[0].feeds), str_in: new NDArray(['a', 'b\0c', 'd']) }
    const error = await failureOf((await load('types.onnx')).run(feeds))
    expect(error).toMatchObject({
      code: 'bad_input',
      path: 'str_in',
      message: expect.stringContaining('at 1'),
    })
  })

  it('fail alone where only the model can tell, and the model goes on', async () => {
    const model = await load('lookup.onnx')
    const run = (row: bigint) => model.run({ row: new NDArray(BigInt64Array.of(row)) })
    const [good, bad, after] = await Promise.allSettled([run(2n), run(3n), run(0n)])
    expect(bad).toMatchObject({
      status: 'rejected',
      reason: { message: expect.stringContaining('out of data bounds') },
    })
    expect([good, after]).toMatchObject([
      { value: { found: { data: Float32Array.of(4, 5) } } },
      { value: { found: { data: Float32Array.of(0, 1) } } },
    ])
  })
})

describe('loading an ONNX model', () => {
  it('refuses a file that is missing or no model, naming it', async () => {
    for (const name of ['missing.onnx', 'make.py']) {
      const error = await failureOf(load(name))
      expect(error).toBeInstanceOf(InvalidArgument)
      expect(error.message).toContain(name)
    }
    expect((await failureOf(load('missing.onnx'))).message).toMatch(
      /there is no file .*missing\.onnx$/,
    )
  })

  it('tells the whole reason why a model does not load, and the path once', async () => {
    const { message } = await failureOf(load('future.onnx'))
    expect(message).toMatch(/Unsupported model IR version: 1000, max supported IR version: \d+/)
    expect(message.split('future.onnx')).toHaveLength(2)
    expect(message).not.toContain('\n')
  })

  it('refuses outputs that are no tensors, unless only others are asked for', async () => {
    expect(await failureOf(load('sequence.onnx'))).toMatchObject({
      code: 'invalid_argument',
      message: expect.stringMatching(/output list of .*a sequence or a map.*zipmap/),
    })
    const { same } = await (await load('sequence.onnx', { outputs: ['same'] })).run({
      x: rows(1).reshape([3]),
    })
    expect(same.shape).toEqual([3])
  })

  it('refuses element types that NDArray does not have', async () => {
    const error = await failureOf(load('bfloat16.onnx'))
    expect(error).toBeInstanceOf(InvalidArgument)
    expect(error.message).toContain('bfloat16.onnx')
  })

  it('refuses outputs that the model does not have, and a wrong number of threads', async () => {
    for (const options of [
      { outputs: ['label'] },
      { outputs: [] },
      { intraOpThreads: 0 },
      { intraOpThreads: 1.5 },
    ]) {
      expect(await failureOf(load('classes.onnx', options))).toBeInstanceOf(InvalidArgument)
    }
  })

  it('computes by the providers that it is told, and names those that are there where one is not', async () => {
    const { run } = await load('scale.onnx', { executionProviders: ['cpu'], deviceId: 0 })
    expect(run).toBeTypeOf('function')
    const known = onnxruntime()
      .listSupportedBackends()
      .map(({ name }) => name)
    const missing = await failureOf(load('scale.onnx', { executionProviders: ['nonesuch', 'cpu'] }))
    expect(missing).toBeInstanceOf(InvalidArgument)
    expect(missing.message).toBe(
      `expected some of ${known.join(', ')} for executionProviders of onnxruntime-node, received "nonesuch"`,
    )
    for (const executionProviders of [[], 'cpu', [5]]) {
      const failure = await failureOf(
        load('scale.onnx', { executionProviders: executionProviders as never }),
      )
      expect(failure.message).toMatch(/for executionProviders/)
    }
    await expect(load('scale.onnx', { deviceId: -1 })).rejects.toThrow(
      /whole number from 0 up for deviceId/,
    )
  })

  it.skipIf(
    !onnxruntime()
      .listSupportedBackends()
      .some(({ name, bundled }) => name === 'cuda' && !bundled),
  )(
    'says of cuda, which is not there, what is, and computes on no other provider in its place',
    async () => {
      const failure = await failureOf(
        load('scale.onnx', { executionProviders: ['cuda', 'cpu'], deviceId: 1 }),
      )
      expect(failure).toBeInstanceOf(InvalidArgument)
      expect(failure.message).toMatch(
        /^expected the execution providers cuda, cpu to work for .*scale\.onnx, .*Cuda/,
      )
      expect(failure.message).toMatch(/bundled here: cpu/)
    },
  )

  it('works in two threads at once, without the main thread', async () => {
    // vitest's transforms stay in its own process, so that threads load the build.
    const entry = new URL('../../../fixtures/onnx/thread.mjs', import.meta.url)
    const answers = await Promise.all(
      [1, 2].map(
        (count) =>
          new Promise((resolve, reject) => {
            const worker = new Worker(entry, {
              workerData: { path: fileOf('classes.onnx'), count },
            })
            let answer: unknown
            worker.on('message', (message) => {
              answer = message
            })
            worker.on('error', reject)
            worker.on('exit', (code) => resolve({ answer, code }))
          }),
      ),
    )
    expect(answers).toEqual([
      { answer: { runs: 200, names: ['left'] }, code: 0 },
      { answer: { runs: 200, names: ['left', 'left'] }, code: 0 },
    ])
  })

  it('without onnxruntime-node names the package and the command that installs it', () => {
    const output = runWithout(
      'onnxruntime-node',
      `import { MissingDependencyException } from './dist/index.js'
      import { loadOnnx } from './dist/runner/onnx/index.js'
      await loadOnnx('model.onnx').catch((error) => {
        console.log(error instanceof MissingDependencyException, error.message)
      })`,
    )
    expect(output).toBe(
      'true an ONNX model needs the package onnxruntime-node: npm install "onnxruntime-node@^1.30.0"\n',
    )
  })
})
