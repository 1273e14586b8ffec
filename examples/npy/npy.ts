/**
 * A descriptor of one's own: arrays as NPY, the file format of numpy.save.
 * @module
 */
import {
  BadInput,
  BadOutput,
  type DType,
  type HttpRequest,
  type HttpResponse,
  io,
  NDArray,
  UnsupportedMediaType,
} from 'serving'

const mimeType = 'application/x-npy'
const magic = Buffer.from('\x93NUMPY', 'latin1')

/** numpy's names of the types that both sides have, with their typed arrays. */
const types = {
  '|b1': ['bool', Uint8Array],
  '|i1': ['int8', Int8Array],
  '<i2': ['int16', Int16Array],
  '<i4': ['int32', Int32Array],
  '<i8': ['int64', BigInt64Array],
  '|u1': ['uint8', Uint8Array],
  '<u2': ['uint16', Uint16Array],
  '<u4': ['uint32', Uint32Array],
  '<u8': ['uint64', BigUint64Array],
  '<f2': ['float16', Uint16Array],
  '<f4': ['float32', Float32Array],
  '<f8': ['float64', Float64Array],
} as const satisfies Record<string, readonly [DType, object]>

type Descr = keyof typeof types
type Data = InstanceType<(typeof types)[Descr][1]>

/**
 * Decodes NPY bytes to an NDArray and encodes an NDArray to NPY bytes.
 *
 * **Wire**: versions 1.0 and 2.0, little-endian numbers and booleans, C and Fortran order; written as numpy.save does.
 * **Errors**: BadInput `syntax`, `dtype` or `shape` with the byte offset; 415 for another media type.
 * **Source**: numpy.lib.format.
 */
export class Npy extends io.IODescriptor<NDArray> {
  readonly mimeType = mimeType
  override readonly readsHeaders = []

  fromHttpRequest(request: HttpRequest): NDArray {
    const type = request.headers.get('content-type')?.split(';')[0].trim().toLowerCase()
    if (type !== undefined && type !== mimeType && type !== 'application/octet-stream') {
      throw new UnsupportedMediaType(
        `expected content-type ${mimeType} for Npy, received ${JSON.stringify(type)}`,
      )
    }
    // Valid until this method returns; the elements are copied below.
    const body = request.peek()
    const { start, descr, isFortran, shape } = parseHeader(body)
    const [dtype, Container] = types[descr]
    const size = shape.reduce((product, length) => product * length, 1)
    const bytes = size * Container.BYTES_PER_ELEMENT
    if (bytes !== body.length - start) {
      throw new BadInput(
        `expected ${bytes} bytes for Npy of shape (${shape}), received ${body.length - start}`,
        {
          reason: 'shape',
          offset: start,
        },
      )
    }
    // A copy also has the alignment that typed arrays ask for.
    const data = new Container(new Uint8Array(body.subarray(start)).buffer)
    if (dtype === 'bool') {
      const bad = (data as Uint8Array).findIndex((byte) => byte > 1)
      if (bad !== -1)
        throw new BadInput('expected bytes 0 or 1 for Npy of bool', {
          reason: 'dtype',
          offset: start + bad,
        })
    }
    return new NDArray((isFortran ? toCOrder(data, shape) : data) as NDArray['data'], shape, dtype)
  }

  toHttpResponse(array: NDArray): HttpResponse {
    const descr = Object.entries(types).find(([, [dtype]]) => dtype === array?.dtype)?.[0]
    if (descr === undefined)
      throw new BadOutput(
        `expected an NDArray of numbers or booleans for Npy, received ${array?.dtype}`,
      )
    const data = array.data as Data
    return {
      headers: [['content-type', mimeType]],
      // An array may be a view of a larger one.
      body: Buffer.concat([
        encodeHeader(descr, array.shape),
        Buffer.from(data.buffer, data.byteOffset, data.byteLength),
      ]),
    }
  }
}

/** Reads the header in front of the elements: a Python dictionary, in the forms that numpy writes. */
function parseHeader(body: Uint8Array): {
  start: number
  descr: Descr
  isFortran: boolean
  shape: number[]
} {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length)
  const major = bytes[6]
  if (bytes.length < 12 || !bytes.subarray(0, 6).equals(magic) || (major !== 1 && major !== 2)) {
    throw new BadInput('expected NPY version 1.0 or 2.0 for Npy, received other bytes', {
      reason: 'syntax',
      offset: 0,
    })
  }
  const at = major === 1 ? 10 : 12
  const start = at + (major === 1 ? bytes.readUInt16LE(8) : bytes.readUInt32LE(8))
  const text = bytes.toString('latin1', at, start)
  const fields =
    /^\{'descr': (?:'([^']*)'|\[.*\]), 'fortran_order': (True|False), 'shape': \(([\d, ]*)\), \} *\n$/.exec(
      text,
    )
  if (fields === null || start > bytes.length) {
    throw new BadInput("expected numpy's description of an array for Npy, received another", {
      reason: 'syntax',
      offset: at,
    })
  }
  // Records have a list of types instead of one.
  const [, descr = 'of records', order, lengths] = fields
  if (!Object.hasOwn(types, descr)) {
    const dtype = JSON.stringify(descr.slice(0, 20))
    const message = `expected a little-endian number or a boolean for Npy, received dtype ${dtype}`
    throw new BadInput(message, { reason: 'dtype', offset: at })
  }
  const shape = (lengths.match(/\d+/g) ?? []).map(Number)
  if (shape.length > 64 || !shape.every(Number.isSafeInteger)) {
    throw new BadInput(
      `expected at most 64 lengths within 2^53 for Npy, received (${lengths.slice(0, 80)})`,
      {
        reason: 'shape',
        offset: at,
      },
    )
  }
  return { start, descr: descr as Descr, isFortran: order === 'True', shape }
}

/**
 * Bytes up to the elements, which start at a multiple of 64. Room for 21 digits is left for the first length to grow.
 */
function encodeHeader(descr: string, shape: readonly number[]): Buffer {
  const lengths = shape.length === 1 ? `${shape[0]},` : shape.join(', ')
  const growth = shape.length === 0 ? '' : ' '.repeat(21 - String(shape[0]).length)
  const text = `{'descr': '${descr}', 'fortran_order': False, 'shape': (${lengths}), }${growth}`
  const padding = ' '.repeat(63 - ((10 + text.length) % 64))
  const head = Buffer.concat([
    magic,
    Buffer.from([1, 0, 0, 0]),
    Buffer.from(`${text}${padding}\n`, 'latin1'),
  ])
  head.writeUInt16LE(head.length - 10, 8)
  return head
}

/** Reorders elements from Fortran order to C order. */
function toCOrder(data: Data, shape: readonly number[]): Data {
  const ordered = data.slice()
  const index = shape.map(() => 0)
  const strides = shape.map((_, axis) =>
    shape.slice(0, axis).reduce((product, length) => product * length, 1),
  )
  for (let i = 0, from = 0; i < data.length; i++) {
    ordered[i] = data[from]
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      from += strides[axis]
      if (++index[axis] < shape[axis]) break
      from -= strides[axis] * shape[axis]
      index[axis] = 0
    }
  }
  return ordered
}
