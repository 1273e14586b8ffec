/**
 * `serving types` and `serving diff` on the models of test/fixtures/onnx-types, whose names, dtypes and axes are those
 * that onnxruntime's Python package tells.
 */
import {
  appendFileSync,
  closeSync,
  cpSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { readHeader } from '../../src/cli/types/onnx-header.ts'
import { diffCommand } from '../../src/cli/types/types-command.ts'
import type { TensorType } from '../../src/runner/onnx/signature.ts'
import { folder, root, run, serveFile, serving } from './process.ts'

const fixtures = fileURLToPath(new URL('../fixtures/onnx-types/', import.meta.url))
const others = fileURLToPath(new URL('../fixtures/onnx/', import.meta.url))
const read = (name: string) => JSON.parse(readFileSync(join(fixtures, name), 'utf8'))

interface OrtTensor {
  readonly name: string
  readonly type: string
  readonly shape: readonly (number | string | null)[]
}
interface Version {
  readonly base: string
  readonly changes: readonly string[]
  readonly breaks: string | null
  readonly model: string
}

const dtypes: Readonly<Record<string, string>> = { float: 'float32', int64: 'int64', string: 'str' }
const asSignature = (tensors: readonly OrtTensor[]): Record<string, TensorType> =>
  Object.fromEntries(
    tensors.map(({ name, type, shape }) => [
      name,
      {
        dtype: dtypes[/\((\w+)\)/.exec(type)?.[1] ?? ''] as TensorType['dtype'],
        shape: shape.map((axis) => axis ?? -1),
      },
    ]),
  )

/** A folder with models, in which programs find this package. */
function models(...names: string[]): string {
  const cwd = folder({ 'package.json': '{ "type": "module" }' }, true)
  for (const name of names) cpSync(join(fixtures, name), join(cwd, name))
  return cwd
}

/** Compiles the programs of a folder, as a user's project would. */
async function compile(cwd: string) {
  const compilerOptions = {
    target: 'es2023',
    module: 'nodenext',
    strict: true,
    noUnusedLocals: true,
    noUncheckedIndexedAccess: true,
    allowImportingTsExtensions: true,
    noEmit: true,
    skipLibCheck: true,
    types: ['node'],
    typeRoots: [join(root, 'node_modules/@types')],
  }
  writeFileSync(join(cwd, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }))
  const program = join(root, 'node_modules/typescript/bin/tsc')
  return (await run(['--pretty', 'false', '-p', '.'], { cwd, program })).stdout
}

/** The bytes of protobuf. */
const varint = (value: number): Buffer => {
  const rest = Math.floor(value / 128)
  if (rest === 0) return Buffer.of(value)
  return Buffer.concat([Buffer.of((value % 128) + 128), varint(rest)])
}
const opened = (number: number, length: number) =>
  Buffer.concat([Buffer.of(number * 8 + 2), varint(length)])
const field = (number: number, ...parts: Buffer[]) => {
  const content = Buffer.concat(parts)
  return Buffer.concat([opened(number, content.length), content])
}

describe('the header of an ONNX file', () => {
  const { models: expected } = read('expected.json') as {
    models: Record<string, { inputs: OrtTensor[]; outputs: OrtTensor[] }>
  }

  it.each(Object.entries(expected))(
    'of %s is what onnxruntime tells',
    (name, { inputs, outputs }) => {
      const header = readHeader(join(fixtures, name))
      expect(header.inputs).toEqual(asSignature(inputs))
      expect(header.outputs).toEqual(asSignature(outputs))
    },
  )

  it('has labels of JSON, of a dict of Python and between commas', () => {
    expect(readHeader(join(fixtures, 'rows.onnx'))).toMatchObject({
      labels: ['setosa', 'versicolor', 'virginica'],
      scores: 'scores',
    })
    expect(readHeader(join(fixtures, 'picture.onnx'))).toMatchObject({
      labels: ['circle', 'cross', 'square', 'star', "it's"],
      scores: 'odds',
    })
    const listed = (read('versions.json') as Version[]).find(
      ({ base, changes }) => base === 'rows' && changes.join() === 'labels as list',
    )
    const file = join(folder({}), 'model.onnx')
    writeFileSync(file, Buffer.from(listed?.model ?? '', 'base64'))
    expect(readHeader(file).labels).toEqual(['setosa', 'versicolor', 'virginica'])
  })

  it('has all dtypes of NDArray, scalars, and any number of axes', () => {
    const { inputs, outputs } = readHeader(join(others, 'types.onnx'))
    for (const [name, { dtype, shape }] of Object.entries({ ...inputs, ...outputs }))
      expect([name.replace(/_(in|out)$/, ''), shape]).toEqual([dtype, ['n']])
    expect(readHeader(join(others, 'scale.onnx')).inputs.factor).toEqual({
      dtype: 'float64',
      shape: [],
    })
    expect(readHeader(join(others, 'any-rank.onnx')).inputs.x).toEqual({ dtype: 'float32' })
  })

  it('is read of a file of 3 GB without its weights', () => {
    const shape = field(2, field(1, field(2, Buffer.from('batch'))), field(1, Buffer.of(8, 4)))
    const info = Buffer.concat([
      field(1, Buffer.from('x')),
      field(2, field(1, Buffer.of(8, 1), shape)),
    ])
    const after = Buffer.concat([field(11, info), field(12, info)])
    const hole = 3 * 1024 ** 3
    const weights = opened(9, hole)
    const tensor = opened(5, weights.length + hole)
    const graph = opened(7, tensor.length + weights.length + hole + after.length)
    const before = Buffer.concat([graph, tensor, weights])
    const file = join(folder({}), 'large.onnx')
    const handle = openSync(file, 'w')
    writeSync(handle, before)
    writeSync(handle, after, 0, after.length, before.length + hole)
    closeSync(handle)
    const x = { dtype: 'float32', shape: ['batch', 4] }
    expect(readHeader(file)).toEqual({
      inputs: { x },
      outputs: { x },
      labels: [],
      scores: undefined,
    })
  })

  it('has an output whose value is in the file, but no such input', () => {
    const info = (name: string) =>
      Buffer.concat([field(1, Buffer.from(name)), field(2, field(1, Buffer.of(8, 1), field(2)))])
    const graph = field(
      7,
      ...[
        field(5, field(8, Buffer.from('weight'))),
        field(11, info('x')),
        field(11, info('weight')),
      ],
      field(12, info('weight')),
    )
    const file = join(folder({}), 'constant.onnx')
    writeFileSync(file, graph)
    const scalar = { dtype: 'float32', shape: [] }
    expect(readHeader(file)).toMatchObject({ inputs: { x: scalar }, outputs: { weight: scalar } })
    expect(Object.keys(readHeader(file).inputs)).toEqual(['x'])
  })

  it.each([
    ['zipmap.onnx', fixtures, /output_probability is a sequence.*zipmap: False/],
    ['sequence.onnx', others, /list is a sequence/],
    ['bfloat16.onnx', others, /x is a sequence, a map, or of a dtype that NDArray has not/],
    ['make.py', fixtures, /expected an ONNX model of arrays for .*make.py/],
    ['none.onnx', fixtures, /no such file/],
    ['', fixtures, /directory/],
  ])('of %s is refused in clear words', (name, from, message) => {
    expect(() => readHeader(join(from, name))).toThrow(message)
  })

  it('cut anywhere is refused or that of a shorter file, and never hangs', () => {
    const whole = readFileSync(join(fixtures, 'words.onnx'))
    const file = join(folder({}), 'cut.onnx')
    for (let length = 0; length < whole.length; length++) {
      writeFileSync(file, whole.subarray(0, length))
      try {
        readHeader(file)
      } catch (error) {
        expect(String(error)).toMatch(/expected an ONNX model of arrays/)
      }
    }
  })
})

describe('serving diff', () => {
  it('names all of 200 versions that break callers of onnxruntime, but for files that it cannot load', () => {
    const versions = read('versions.json') as Version[]
    const file = join(folder({}), 'version.onnx')
    const verdicts = versions.map(({ base, changes, breaks, model }) => {
      writeFileSync(file, Buffer.from(model, 'base64'))
      const lines = diffCommand(join(fixtures, `${base}.onnx`), file)
      return { base, changes, breaks, isNamed: lines.length > 0 }
    })
    const breaking = verdicts.filter(({ breaks }) => breaks !== null)
    const missed = breaking.filter(({ isNamed }) => !isNamed)
    expect([versions.length, breaking.length]).toEqual([200, 147])
    expect(missed.filter(({ changes }) => !changes.includes('too new file'))).toEqual([])
    expect(1 - missed.length / breaking.length).toBeGreaterThanOrEqual(0.95)
    expect(verdicts.filter(({ breaks, isNamed }) => breaks === null && isNamed)).toEqual([])
  })

  it('says which APIs and clients break, and exits with 1', async () => {
    const { code, stdout } = await run(['diff', 'rows.onnx', 'picture.onnx'], { cwd: fixtures })
    expect(code).toBe(1)
    expect(stdout.split('\n')).toEqual([
      'x of the inputs is absent, was float32 (batch, 4): breaks predict, label and clients',
      'pixels of the inputs is float32 (N, 3, 8, 8), was absent: breaks predict, label and clients',
      'scores of the outputs is absent, was float32 (batch, 3): breaks predict, label and clients',
      'label 0 is circle, was setosa: breaks label and clients',
      '',
    ])
    const same = await run(['diff', 'plain.onnx', 'optional.onnx'], { cwd: fixtures })
    expect(same).toMatchObject({ code: 0, stdout: 'no API breaks\n' })
    const wrong = await run(['diff', 'rows.onnx', 'zipmap.onnx'], { cwd: fixtures })
    expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('zipmap: False')])
  })
})

describe('serving types', () => {
  it('writes a service that serves and a client that it answers', {
    timeout: 120_000,
  }, async () => {
    const cwd = models('rows.onnx', 'words.onnx')
    for (const name of ['rows', 'words']) {
      const { stdout } = await run(['types', `${name}.onnx`], { cwd })
      expect(stdout).toBe(`wrote ${name}.signature.ts\nwrote ${name}.ts\nwrote ${name}.client.ts\n`)
    }
    writeFileSync(
      join(cwd, 'ask.ts'),
      `import { client as rows } from './rows.client.ts'
import { client as words } from './words.client.ts'

const scores = await rows.predict({ shape: [2, 4], data: new Float32Array(8) })
const columns: 3 = scores.shape[1]
const elements: Float32Array = scores.data
const [label]: ('setosa' | 'versicolor' | 'virginica' | null | undefined)[] = await rows.label([[1, 2, 3, 4]])
const shape = [1, 2] as const
const { hidden, pooled } = await words.predict({
  ids: { shape, data: BigInt64Array.of(1n, 2n) },
  mask: { shape, data: Float32Array.of(1, 1) },
})
console.log(JSON.stringify([columns, elements.length, label, hidden.shape, pooled.dtype]))
`,
    )
    expect(await compile(cwd)).toBe('')
    for (const name of ['rows', 'words']) {
      const { port } = await serveFile(`${name}.ts`, ['--workers', '1'], { cwd })
      const client = join(cwd, `${name}.client.ts`)
      const text = readFileSync(client, 'utf8')
      writeFileSync(client, text.replace('http://localhost:3000', `http://127.0.0.1:${port}`))
    }
    const { exited, stdout, stderr } = serving(['ask.ts'], {
      cwd,
      program: join(root, 'node_modules/tsx/dist/cli.mjs'),
    })
    await exited
    expect([
      stdout().replace('"virginica"', '"setosa"').replace('"versicolor"', '"setosa"'),
      stderr(),
    ]).toEqual(['[3,6,"setosa",[1,2,2],"float32"]\n', ''])
  })

  it('writes the signature again for the next version, and the compiler names what breaks', async () => {
    const cwd = models('rows.onnx')
    await run(['types', 'rows.onnx'], { cwd })
    appendFileSync(
      join(cwd, 'rows.ts'),
      "\nconst best = new io.NumpyNdarray({ dtype: 'float32', shape: ['batch', 3], enforceDtype: true })\n" +
        "svc.api({ input, output: best, name: 'mine' }, async (x, ctx) => (await model.run({ x }, ctx)).scores)\n",
    )
    expect(await compile(cwd)).toBe('')
    const next = (read('versions.json') as Version[]).find(
      ({ base, changes }) => base === 'rows' && changes.join() === 'one more class',
    )
    writeFileSync(join(cwd, 'rows.onnx'), Buffer.from(next?.model ?? '', 'base64'))
    const { stdout } = await run(['types', 'rows.onnx'], { cwd })
    expect(stdout).toBe('wrote rows.signature.ts\nkept rows.ts\nkept rows.client.ts\n')
    expect(await compile(cwd)).toMatch(/^rows\.ts\(\d+,.*error TS2322.*float32.* 4\].* 3\]/)
    rmSync(join(cwd, 'rows.onnx'))
    const gone = await run(['types', 'rows.onnx'], { cwd })
    expect([gone.code, gone.stderr]).toEqual([1, expect.stringContaining('no such file')])
  })

  it('writes services of all kinds of models that compile', async () => {
    const names = ['plain', 'picture', 'optional', 'listed', 'sklearn', 'beside']
    const cwd = models(...names.map((name) => `${name}.onnx`))
    cpSync(join(others, 'any-rank.onnx'), join(cwd, 'any-rank.onnx'))
    cpSync(join(others, 'scale.onnx'), join(cwd, "it's odd*.onnx"))
    for (const name of [...names, 'any-rank', "it's odd*"])
      await run(['types', `${name}.onnx`], { cwd })
    expect(await compile(cwd)).toBe('')
  })
})
