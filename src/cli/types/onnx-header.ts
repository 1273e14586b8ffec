/** What an ONNX file says of its model. Weights are skipped: a file of gigabytes is not read whole. @module */
import { closeSync, openSync, readSync, statSync } from 'node:fs'
import type { DType } from '../../core/dtype.ts'
import { errorText, InvalidArgument } from '../../core/errors.ts'
import { ProtoReader, wireType } from '../../messages/protobuf.ts'
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
    const message = `expected an ONNX model of arrays for ${path}: ${errorText(cause)}`
    throw new InvalidArgument(message, { cause })
  }
}

/** A field of a message: a number, a text, or a message. */
interface Field {
  readonly value: number
  text(): string
  /** The fields in it that have a number. */
  all(number: number): readonly Field[]
}

function fieldOf(file: number, start: number, end: number, value = 0): Field {
  const read = (at: number, length: number) => {
    const bytes = Buffer.alloc(length)
    readSync(file, bytes, 0, length, at)
    return bytes
  }
  return {
    value,
    text: () => read(start, end - start).toString(),
    all(number) {
      const fields: Field[] = []
      for (let at = start; at < end; ) {
        const reader = new ProtoReader(read(at, maxHead))
        reader.next()
        let [amount, length] = [0, 0]
        if (reader.is(wireType.varint)) amount = Number(String(reader.int64()))
        else if (reader.is(wireType.bytes)) length = reader.uint32()
        else reader.skipField()
        const from = at + reader.pos
        at = from + length
        if (at > end) throw reader.fault('a whole field')
        if (reader.field === number) fields.push(fieldOf(file, from, at, amount))
      }
      return fields
    },
  }
}

/** Bytes of a tag and of a number or a length. */
const maxHead = 20
const none: Field = { value: -1, text: () => '', all: () => [] }
const first = (field: Field, number: number) => field.all(number)[0] ?? none

function headerOf(model: Field): OnnxHeader {
  const graph = first(model, 7)
  const [inputs, outputs] = [11, 12].map((number) =>
    Object.fromEntries(graph.all(number).map(entryOf)),
  )
  for (const value of graph.all(5)) delete inputs[first(value, 8).text()]
  if ([inputs, outputs].some((types) => Object.keys(types).length === 0))
    throw new Error('it has no inputs or no outputs')
  const metadata = model.all(14).find((entry) => labelKey.test(first(entry, 1).text())) ?? none
  const labels = labelsIn(first(metadata, 2).text())
  const scores = Object.keys(outputs).find(
    (name) =>
      /^float(32|64)$/.test(outputs[name].dtype) && outputs[name].shape?.at(-1) === labels.length,
  )
  return { inputs, outputs, labels, scores }
}

/** Exporters write an axis of any length as a name, as a negative length, or as nothing. */
function entryOf(info: Field): [name: string, type: TensorType] {
  const name = first(info, 1).text()
  const tensor = first(first(info, 2), 1)
  const dtype = dtypes[first(tensor, 1).value]
  if (!dtype) {
    throw new Error(
      `${name} is a sequence, a map, or of a dtype that NDArray has not;` +
        ' scikit-learn models are exported with zipmap: False',
    )
  }
  const [shape] = tensor
    .all(2)
    .map((axes) =>
      axes.all(1).map((axis) => first(axis, 2).text() || Math.max(-1, first(axis, 1).value)),
    )
  return [name, { dtype: dtype as DType, shape }]
}

/** Labels are JSON, a list or a dict of Python, or texts between commas or lines. */
function labelsIn(text: string): string[] {
  if (text === '') return []
  try {
    return Object.values(JSON.parse(text)).map(String)
  } catch {
    const quoted = [...text.matchAll(/(['"])(.*?)\1/g)].map(([, , label]) => label)
    return quoted.length > 0 ? quoted : text.split(/\s*[\n,]\s*/)
  }
}
