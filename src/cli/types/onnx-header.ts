/** What an ONNX file says of its model. Weights are skipped: a file of gigabytes is not read whole. @module */
import { closeSync, openSync, readSync, statSync } from 'node:fs'
import type { DType } from '../../core/dtype.ts'
import { InvalidArgument } from '../../core/errors.ts'
import { readProto, wireType } from '../../messages/protobuf.ts'
import type { ModelSignature, TensorType } from '../../runner/onnx/signature.ts'

/** The header of a file: its signature, without inputs that have a value in the file. */
export interface OnnxHeader extends ModelSignature {
  /** Names of classes, from the metadata. */
  readonly labels: readonly string[]
  /** The output that has a score for each label. */
  readonly scores: string | undefined
}

/** The element types of TensorProto that NDArray has, by their numbers. */
const dtypes =
  ' float32 uint8 int8 uint16 int16 int32 int64 str bool float16 float64 uint32 uint64'.split(' ')
const labelKey = /^(labels?|classes|class_?names|names|id2label)$/i

/** @throws InvalidArgument for a file that is no ONNX model, or without arrays as inputs and outputs. */
export function readHeader(path: string): OnnxHeader {
  try {
    const file = openSync(path, 'r')
    try {
      return headerOf(fieldOf(file, 0, statSync(path).size))
    } finally {
      closeSync(file)
    }
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new InvalidArgument(`expected an ONNX model of arrays for ${path}: ${why}`, { cause })
  }
}

/** A field of a message: a number, a text, or a message. */
interface Field {
  readonly number: number
  readonly value: number
  text(): string
  /** The fields in it that have a number. */
  all(number: number): readonly Field[]
}

function fieldOf(file: number, start: number, end: number, number = 0, value = 0): Field {
  const read = (at: number, most: number) => {
    const bytes = Buffer.alloc(Math.min(most, end - at))
    readSync(file, bytes, 0, bytes.length, at)
    return bytes
  }
  const fields: Field[] = []
  let at = start
  const walk = () => {
    while (at < end) {
      at = readProto(read(at, 20), (reader) => {
        reader.next()
        let [amount, length] = [0, 0]
        if (reader.is(wireType.varint)) amount = Number(String(reader.int64()))
        else if (reader.is(wireType.bytes)) length = reader.uint32()
        else reader.skipField()
        const from = at + reader.pos
        if (from + length > end) throw reader.fault('a whole field')
        fields.push(fieldOf(file, from, from + length, reader.field, amount))
        return from + length
      })
    }
    return fields
  }
  return {
    number,
    value,
    text: () => read(start, end).toString(),
    all: (wanted) => walk().filter((field) => field.number === wanted),
  }
}

const textOf = (field: Field, number: number) => field.all(number)[0]?.text() ?? ''

function headerOf(model: Field): OnnxHeader {
  const [graph] = model.all(7)
  const [tensors, takes, answers] = [5, 11, 12].map((number) => graph?.all(number) ?? [])
  const values = new Set(tensors.map((tensor) => textOf(tensor, 8)))
  const [inputs, outputs] = [takes, answers].map((infos) =>
    Object.fromEntries(infos.map(entryOf).filter(([name]) => !values.has(name))),
  )
  if (Object.keys(inputs).length === 0 || answers.length === 0) throw new Error('it has no inputs')
  const metadata = model.all(14).find((entry) => labelKey.test(textOf(entry, 1)))
  const labels = metadata ? labelsIn(textOf(metadata, 2)) : []
  const scores = Object.entries(outputs).find(
    ([, { dtype, shape }]) => /^float(32|64)$/.test(dtype) && shape?.at(-1) === labels.length,
  )
  return { inputs, outputs, labels, scores: scores?.[0] }
}

/** Exporters write an axis of any length as a name, as a negative length, or as nothing. */
function entryOf(info: Field): [name: string, type: TensorType] {
  const name = textOf(info, 1)
  const tensor = info.all(2)[0]?.all(1)[0]
  const dtype = dtypes[tensor?.all(1)[0]?.value ?? 0]
  if (!dtype) {
    throw new Error(
      `${name} is a sequence, a map, or of a dtype that NDArray has not;` +
        ' scikit-learn models are exported with zipmap: False',
    )
  }
  const shape = tensor
    ?.all(2)[0]
    ?.all(1)
    .map((axis) => {
      return textOf(axis, 2) || Math.max(-1, axis.all(1)[0]?.value ?? -1)
    })
  return [name, { dtype: dtype as DType, shape }]
}

/** Labels are JSON, a list or a dict of Python, or texts between commas or lines. */
function labelsIn(text: string): string[] {
  try {
    return Object.values(JSON.parse(text)).map(String)
  } catch {
    const quoted = [...text.matchAll(/(['"])(.*?)\1/g)].map(([, , label]) => label)
    return quoted.length > 0 ? quoted : text.split(/\s*[\n,]\s*/)
  }
}
