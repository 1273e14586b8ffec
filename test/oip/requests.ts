/** Requests of the protocol to a service, in process. */
import type { InjectResponse, Service } from 'serving'

type Headers = Record<string, string>

/** Returns the calls that tests make. */
export function requestsTo(svc: Service) {
  const get = (path: string) => svc.inject({ path })
  const post = (path: string, given: unknown, headers: Headers = {}) => {
    const isRaw = typeof given === 'string' || given instanceof Uint8Array
    return svc.inject({
      path,
      method: 'POST',
      body: isRaw ? given : JSON.stringify(given),
      headers,
    })
  }
  const infer = (model: string, inputs: unknown[], rest: object = {}, headers: Headers = {}) =>
    post(`/v2/models/${model}/infer`, { inputs, ...rest }, headers)
  /** A request whose JSON is followed by the bytes of its tensors. */
  const binary = (
    model: string,
    request: object,
    tail: readonly Uint8Array[],
    headers: Headers = {},
  ) => {
    const json = Buffer.from(JSON.stringify(request))
    return post(`/v2/models/${model}/infer`, Buffer.concat([json, ...tail]), {
      'inference-header-content-length': String(json.length),
      ...headers,
    })
  }
  return { get, post, infer, binary }
}

interface Parts {
  readonly json: { readonly outputs: readonly { readonly name: string }[] }
  readonly rest: Buffer
}

/** Returns the JSON of an answer, and the bytes behind it. */
export function parts(response: InjectResponse): Parts {
  const length = Number(response.headers.get('inference-header-content-length'))
  const body = Buffer.from(response.body)
  return { json: JSON.parse(body.subarray(0, length).toString()), rest: body.subarray(length) }
}

/** Returns the bytes of a typed array. */
export function bytes(array: ArrayBufferView): Buffer {
  return Buffer.from(array.buffer, array.byteOffset, array.byteLength)
}

/** Texts as elements of BYTES. */
export function texts(...words: string[]): Buffer {
  return Buffer.concat(
    words.map((word) => {
      const length = Buffer.alloc(4)
      length.writeUInt32LE(Buffer.byteLength(word))
      return Buffer.concat([length, Buffer.from(word)])
    }),
  )
}

/** An input of the model `double`. */
export const two = { name: 'input', datatype: 'FP32', shape: [1, 2], data: [1, 2] }
