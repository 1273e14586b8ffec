/** The value of a descriptor as named tensors: what makes an API a model. @module */

import { BadOutput, expected } from '../../core/errors.ts'
import { whenAllReady, whenReady } from '../../core/promise.ts'
import { decodeUtf8 } from '../../core/text/utf8.ts'
import type { IODescriptor } from '../../descriptors/descriptor.ts'
import { JSON as JsonDescriptor } from '../../descriptors/json.ts'
import { Multipart } from '../../descriptors/multipart.ts'
import { NumpyNdarray } from '../../descriptors/numpy-ndarray.ts'
import { PandasDataFrame } from '../../descriptors/pandas-dataframe.ts'
import { PandasSeries } from '../../descriptors/pandas-series.ts'
import { partValues } from '../../descriptors/part-plan.ts'
import { Text } from '../../descriptors/text.ts'
import { collectBody } from '../../http/message.ts'
import type { NDArray } from '../../values/array/ndarray.ts'
import { showShape } from '../../values/array/shape.ts'
import { frameView, seriesView } from './column-view.ts'
import { datatypeOf } from './datatype.ts'
import { inputFault, type Tensor, tensorOf } from './tensor.ts'
import type { TensorInfo, TensorView } from './tensor-info.ts'

/** Undefined if the value is not tensors. `side` names a value's only tensor, or `text_input` and `text_output`. */
export function tensorView(
  descriptor: IODescriptor,
  side: 'input' | 'output',
): TensorView | undefined {
  if (descriptor instanceof Multipart) return formView(descriptor, side)
  if (descriptor instanceof PandasDataFrame) return frameView(descriptor)
  return singleView(descriptor, descriptor instanceof Text ? `text_${side}` : side)
}

function singleView(descriptor: IODescriptor, name: string): TensorView | undefined {
  if (descriptor instanceof NumpyNdarray) return arrayView(descriptor, name)
  if (descriptor instanceof PandasSeries) return seriesView(descriptor, name)
  if (descriptor instanceof Text) return textView(descriptor, name)
  if (descriptor instanceof JsonDescriptor) return jsonView(descriptor, name)
  return undefined
}

function arrayView(descriptor: NumpyNdarray, name: string): TensorView {
  const { dtype, shape } = descriptor
  const datatype = datatypeOf(dtype ?? 'float64')
  const info: TensorInfo = {
    name,
    datatype,
    shape: shape ?? [-1],
    isAnyDatatype: dtype === undefined,
    isAnyShape: shape === undefined,
  }
  return {
    infos: [info],
    fromTensors: ([input]) => descriptor.fromArray((input as Tensor).array),
    toTensors: (value) =>
      whenReady(descriptor.toArray(value as NDArray), (array) => [
        { name, datatype: datatypeOf(array.dtype), array },
      ]),
  }
}

const oneText = { datatype: 'BYTES', shape: [1] } as const

function onlyText({ name, array }: Tensor): string {
  if (array.size === 1) return (array.data as string[])[0]
  throw inputFault(name, 'one element', `shape ${showShape(array.shape)}`)
}

function textTensor(name: string, text: string): readonly Tensor[] {
  return [tensorOf({ name, ...oneText }, [text])]
}

function textView(descriptor: Text, name: string): TensorView {
  return {
    infos: [{ name, ...oneText, isAnyShape: true }],
    fromTensors: ([input]) => descriptor.fromProto(onlyText(input as Tensor)),
    toTensors: (value) =>
      whenReady(descriptor.toProto(value as string), (text) => textTensor(name, text)),
    async *toStream(value) {
      for await (const piece of descriptor.toProtoStream(value as string))
        yield textTensor(name, piece)
    },
  }
}

function jsonView(descriptor: JsonDescriptor, name: string): TensorView {
  return {
    infos: [{ name, ...oneText, isAnyShape: true }],
    fromTensors: ([input]) => descriptor.fromProto(Buffer.from(onlyText(input as Tensor))),
    toTensors: (value) =>
      whenReady(descriptor.toHttpResponse(value), ({ body }) => {
        if (typeof body === 'string') return textTensor(name, body)
        return collectBody(body).then((bytes) => textTensor(name, decodeUtf8(bytes, 'JSON')))
      }),
  }
}

function formView(
  descriptor: Pick<Multipart<never>, 'rules'>,
  side: 'input' | 'output',
): TensorView | undefined {
  const parts = new Map<string, TensorView>()
  const infos: TensorInfo[] = []
  for (const [name, { descriptor: part, occurrence }] of descriptor.rules) {
    const view = singleView(part, name)
    if (view === undefined || occurrence === 'many') return undefined
    parts.set(name, view)
    const isOptional = occurrence === 'optional' && side === 'input'
    infos.push({ ...view.infos[0], isOptional })
  }
  return {
    infos,
    fromTensors(inputs, ctx) {
      const names = [...parts.keys()]
      const views = [...parts.values()]
      const values = inputs.map((input, i) => input && views[i].fromTensors([input], ctx))
      // Without a prototype, so that any name works.
      return whenAllReady(values, (all) =>
        Object.assign(
          Object.create(null),
          Object.fromEntries(all.map((value, i) => [names[i], value])),
        ),
      )
    },
    toTensors(value, ctx) {
      if (typeof value !== 'object' || value === null)
        throw new BadOutput(expected('an object', 'Multipart', value))
      const all = partValues(descriptor.rules, value).map(([name, , part]) =>
        (parts.get(name) as TensorView).toTensors(part, ctx),
      )
      return whenAllReady(all, (lists) => lists.flat())
    },
  }
}
