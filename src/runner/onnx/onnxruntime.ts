/** ONNX models. Only here is onnxruntime-node imported, telemetry off unless ORT_DISABLE_TELEMETRY is 0. @module */
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { InferenceSession, Tensor } from 'onnxruntime-node'
import { type DataOf, type DType, dataConstructor, type NumberDType } from '../../core/dtype.ts'
import { BadInput, errorText, expected, InvalidArgument } from '../../core/errors.ts'
import { loadOptional } from '../../core/modules/optional.ts'
import { checkAtLeast, checkThat } from '../../core/options.ts'
import { NDArray } from '../../values/array/ndarray.ts'
import { matchesShape, showShape } from '../../values/array/shape.ts'

/**
 * An input or output of a model. **Shape**: -1 where the model takes any size; `[]` for a scalar and for any number of
 * dimensions, which onnxruntime-node does not tell apart.
 */
export interface TensorInfo {
  readonly name: string
  readonly dtype: DType
  readonly shape: readonly number[]
}

/** Options of {@link loadOnnx}. */
export interface OnnxOptions {
  /**
   * Intra-op threads of a run.
   *
   * @default 1: see `serving/onnx` for the sizing rule
   */
  readonly intraOpThreads?: number
  /**
   * onnxruntime's execution providers, in order of preference, such as `cuda`.
   *
   * @default `['cpu']`
   */
  readonly executionProviders?: readonly string[]
  /**
   * The device of providers that have several.
   *
   * @default the provider's, 0
   */
  readonly deviceId?: number | undefined
  /**
   * The outputs to compute, which must be tensors.
   *
   * @default all
   */
  readonly outputs?: readonly string[]
}

/** A loaded model, whose outputs have dtypes of `D`. Use it in the thread that loaded it. */
export interface OnnxModel<D extends DType = NumberDType> {
  readonly inputs: readonly TensorInfo[]
  readonly outputs: readonly TensorInfo[]
  /**
   * Computes outputs by name. Do not change the inputs before the promise settles; the thread is
   * blocked meanwhile.
   *
   * @throws InvalidArgument for a missing or unknown name; BadInput with the input's name as its
   * path for a wrong dtype or shape; onnxruntime's own.
   */
  run(feeds: Readonly<Record<string, NDArray>>): Promise<Record<string, NDArray<D>>>
  release(): Promise<void>
}

type OrtType = Tensor.Type

/** The names are the same, except for strings; 4-bit integers have no dtype. */
function dtypeOf(type: OrtType): DType | undefined {
  if (type === 'string') return 'str'
  return type === 'int4' || type === 'uint4' ? undefined : type
}

const ortTypeOf = (dtype: DType): OrtType => (dtype === 'str' ? 'string' : dtype)

/**
 * @returns the package.
 * @throws MissingDependencyException if it is not installed. @internal
 */
export function onnxruntime(): typeof import('onnxruntime-node') {
  process.env.ORT_DISABLE_TELEMETRY ??= '1'
  return loadOptional('onnxruntime-node', '^1.30.0', 'an ONNX model')
}

/**
 * Loads a file for this thread.
 *
 * @throws MissingDependencyException; InvalidArgument for options and files.
 */
export async function loadOnnx<D extends DType = NumberDType>(
  file: string | URL,
  options: OnnxOptions = {},
): Promise<OnnxModel<D>> {
  const path = file instanceof URL ? fileURLToPath(file) : file
  const ort = onnxruntime()
  const session = await open(ort, path, options)
  try {
    return modelOf<D>(ort, session, path, options.outputs)
  } catch (error) {
    await session.release()
    throw error
  }
}

type Ort = ReturnType<typeof onnxruntime>

async function open(ort: Ort, path: string, options: OnnxOptions): Promise<InferenceSession> {
  const { intraOpThreads: intraOpNumThreads = 1 } = options
  const isCount =
    Number.isSafeInteger(intraOpNumThreads) && intraOpNumThreads >= 1 && intraOpNumThreads <= 1024
  checkThat(isCount, 'a whole number from 1 to 1024', 'intraOpThreads', intraOpNumThreads)
  checkThat(typeof path === 'string', 'a path', 'loadOnnx', path)
  if (!existsSync(path))
    throw new InvalidArgument(`expected an ONNX model, there is no file ${path}`)
  const known = ort.listSupportedBackends().map(({ name }) => name)
  const { executionProviders = ['cpu'], deviceId } = options
  const names = parseNames('executionProviders of onnxruntime-node', executionProviders, known)
  if (deviceId !== undefined) checkAtLeast('deviceId', deviceId, 0)
  try {
    return await ort.InferenceSession.create(path, {
      executionProviders: names.map((name) => (deviceId === undefined ? name : { name, deviceId })),
      intraOpNumThreads,
      interOpNumThreads: 1,
      // At other levels onnxruntime also writes the thrown failures to stderr.
      logSeverityLevel: 4,
    })
  } catch (cause) {
    const why = reasonOf(cause, path)
    if (cause instanceof Error && /ExecutionProvider_/.test(cause.message)) {
      const here = ort
        .listSupportedBackends()
        .flatMap(({ name, bundled }) => (bundled ? [name] : []))
      const what = `the execution providers ${names.join(', ')} to work for ${path}`
      throw new InvalidArgument(
        `expected ${what}, onnxruntime says ${why}; bundled here: ${here.join(', ')}`,
        {
          cause,
        },
      )
    }
    throw new InvalidArgument(
      `expected a readable ONNX model for ${path}, onnxruntime says ${why}`,
      { cause },
    )
  }
}

/** @returns what onnxruntime says, on one line and without the path, with which it begins. */
function reasonOf(cause: unknown, path: string): string {
  const reason = errorText(cause).replace(`Load model from ${path} failed:`, '')
  return JSON.stringify(reason.replace(/\s+/g, ' ').trim())
}

function modelOf<D extends DType>(
  ort: Ort,
  session: InferenceSession,
  path: string,
  requested?: readonly string[],
): OnnxModel<D> {
  const names = parseNames(
    `outputs of ${path}`,
    requested ?? session.outputNames,
    session.outputNames,
  )
  const inputs = session.inputMetadata.map((meta) =>
    tensorInfo(meta, `input ${meta.name} of ${path}`),
  )
  const outputs = names.map((name) =>
    tensorInfo(
      session.outputMetadata[session.outputNames.indexOf(name)],
      `output ${name} of ${path}`,
    ),
  )
  let open = true
  return {
    inputs,
    outputs,
    async run(feeds) {
      if (!open) throw new InvalidArgument(`expected a model that was not released for ${path}`)
      const tensors = tensorsOf(ort, inputs, feeds, path)
      const answers = await session.run(tensors, names)
      return Object.fromEntries(names.map((name) => [name, arrayOf<D>(answers[name] as Tensor)]))
    },
    async release() {
      if (!open) return
      open = false
      await session.release()
    },
  }
}

function tensorInfo(meta: InferenceSession.ValueMetadata, place: string): TensorInfo {
  const dtype = meta.isTensor ? dtypeOf(meta.type) : undefined
  if (!meta.isTensor || dtype === undefined) {
    const received = meta.isTensor ? meta.type : 'a sequence or a map'
    const advice = meta.isTensor ? '' : '; scikit-learn models are exported with zipmap: False'
    throw new InvalidArgument(
      `expected a tensor of a dtype that NDArray has for ${place}, received ${received}${advice}`,
    )
  }
  const shape = meta.shape.map((dim) => (typeof dim === 'number' ? dim : -1))
  return { name: meta.name, dtype, shape }
}

function tensorsOf(
  ort: Ort,
  inputs: readonly TensorInfo[],
  feeds: Readonly<Record<string, NDArray>>,
  path: string,
): Record<string, Tensor> {
  const names = Object.keys(feeds)
  if (names.length !== inputs.length || !inputs.every(({ name }) => Object.hasOwn(feeds, name))) {
    throw new InvalidArgument(
      expected(`inputs ${inputs.map(({ name }) => name).join(', ')}`, path, names.join(', ')),
    )
  }
  const tensors: Record<string, Tensor> = Object.create(null)
  for (const input of inputs) tensors[input.name] = tensorOf(ort, input, feeds[input.name])
  return tensors
}

function tensorOf(ort: Ort, { name, dtype, shape }: TensorInfo, array: NDArray): Tensor {
  checkThat(array instanceof NDArray, 'an NDArray', `input ${name}`, array)
  const wrong = (reason: 'dtype' | 'shape', what: string, received: string) =>
    new BadInput(`expected ${what} for input ${name}, received ${received}`, { reason, path: name })
  if (array.dtype !== dtype) throw wrong('dtype', `dtype ${dtype}`, `dtype ${array.dtype}`)
  if (shape.length > 0 && !matchesShape(array.shape, shape)) {
    throw wrong('shape', `shape ${showShape(shape)}`, `shape ${showShape(array.shape)}`)
  }
  const { data } = array
  if (!Array.isArray(data))
    return new ort.Tensor(ortTypeOf(dtype), unshared(data), array.shape) as Tensor
  // onnxruntime would cut the string there silently.
  const cut = data.findIndex((text) => text.includes('\0'))
  if (cut !== -1) throw wrong('dtype', 'strings without NUL', `one at ${cut}`)
  return new ort.Tensor('string', data, array.shape)
}

function unshared<A extends Exclude<NDArray['data'], string[]>>(data: A): A {
  if (data.buffer instanceof ArrayBuffer) return data
  // A Buffer's own slice would return a view.
  return Uint8Array.prototype.slice.call(data) as A
}

function arrayOf<D extends DType>({ type, data, dims }: Tensor): NDArray<D> {
  const dtype = dtypeOf(type) as D
  if (dtype === 'str') return new NDArray(data as DataOf<D>, dims, dtype)
  const numbers = data as Exclude<typeof data, string[]>
  const Container = dataConstructor(dtype)
  // float16 comes as a Float16Array if the engine has one; we use a Uint16Array.
  const own =
    numbers instanceof Container
      ? numbers
      : new Container(numbers.buffer, numbers.byteOffset, numbers.length)
  return new NDArray(own as DataOf<D>, dims, dtype)
}

function parseNames(place: string, names: unknown, known: readonly string[]): readonly string[] {
  checkThat(Array.isArray(names) && names.length > 0, `a list of ${known.join(', ')}`, place, names)
  const stranger = names.find((name) => !known.includes(name))
  checkThat(stranger === undefined, `some of ${known.join(', ')}`, place, stranger)
  return names
}
