/** Calls of a remote model over REST, tensors in binary form. @module */
import type { ModelCall } from '../runner/model-host.ts'
import { lengthHeader, readShortJson } from './infer-json.ts'
import {
  badAnswer,
  type RemoteDescription,
  type RemoteRequest,
  type RemoteTensor,
  type RemoteTransport,
  remoteError,
  remoteInfo,
  shortMs,
  Unsent,
} from './remote-transport.ts'
import { checkTensorInfo, readRaw, type Tensor, writeRaw } from './tensor.ts'

interface AnswerTensor extends RemoteTensor {
  readonly data?: unknown
  readonly parameters?: { readonly binary_data_size?: number }
}

// Memory for an announced length before that much has come. **Units**: bytes.
const firstBytes = 1024 * 1024

/** Node's fetch, which keeps connections. */
export class HttpTransport implements RemoteTransport {
  async infer(address: string, { model, version, inputs }: RemoteRequest, call: ModelCall): Promise<readonly Tensor[]> {
    const parts = inputs.map(writeRaw)
    const infos = inputs.map(({ name, datatype, array }, i) => ({
      name,
      datatype,
      shape: array.shape,
      parameters: { binary_data_size: parts[i].length },
    }))
    const json = Buffer.from(JSON.stringify({ inputs: infos, parameters: { binary_data_output: true } }))
    const response = await send(`${address}${pathOf(model, version)}/infer`, {
      method: 'POST',
      headers: {
        'content-type': 'application/octet-stream',
        [lengthHeader]: String(json.length),
        ...(call.traceparent !== undefined && { traceparent: call.traceparent }),
      },
      body: Buffer.concat([json, ...parts]),
      signal: call.signal,
    })
    const body = await bodyOf(response)
    if (response.status !== 200) throw errorOf(response.status, body)
    try {
      return outputsOf(body, response.headers.get(lengthHeader))
    } catch (cause) {
      throw badAnswer(cause)
    }
  }

  async describe(address: string, model: string, version: string): Promise<RemoteDescription> {
    const signal = AbortSignal.timeout(shortMs)
    const response = await send(`${address}${pathOf(model, version)}`, { signal })
    const body = new Uint8Array(await response.arrayBuffer())
    if (response.status !== 200) throw errorOf(response.status, body)
    const { inputs, outputs } = JSON.parse(Buffer.from(body).toString()) as Record<string, AnswerTensor[]>
    return { inputs: inputs.map(remoteInfo), outputs: outputs.map(remoteInfo) }
  }

  async isReady(address: string, model: string, version: string): Promise<boolean> {
    const response = await fetch(`${address}${pathOf(model, version)}/ready`, { signal: AbortSignal.timeout(shortMs) })
    await response.arrayBuffer()
    return response.status === 200
  }

  close(): void {}
}

function pathOf(model: string, version: string): string {
  const path = `/v2/models/${encodeURIComponent(model)}`
  return version === '' ? path : `${path}/versions/${version}`
}

/** **Errors**: Unsent without an answer: another server may be asked, since inferences change nothing. */
async function send(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init)
  } catch (cause) {
    if (init.signal?.aborted) throw cause
    throw new Unsent('the server of the remote model did not answer', { cause })
  }
}

/** Aligns the tensors if the announced lengths are true. */
async function bodyOf({ headers, body }: Response): Promise<Uint8Array> {
  const isPlain = headers.get('content-encoding') === null
  const announced = (isPlain && Number(headers.get('content-length'))) || 0
  const start = -Number(headers.get(lengthHeader)) & 7
  let bytes = Buffer.allocUnsafeSlow(start + Math.min(announced, firstBytes)).subarray(start)
  let length = 0
  for await (const piece of body ?? []) {
    const end = length + piece.length
    if (end > bytes.length) {
      const grown = Buffer.allocUnsafeSlow(start + Math.max(end, 2 * bytes.length)).subarray(start)
      bytes.copy(grown, 0, 0, length)
      bytes = grown
    }
    bytes.set(piece, length)
    length = end
  }
  return bytes.subarray(0, length)
}

function errorOf(status: number, body: Uint8Array): Error {
  const text = Buffer.from(body).toString()
  try {
    return remoteError(status, String((JSON.parse(text) as { readonly error?: unknown }).error ?? text))
  } catch {
    return remoteError(status, text)
  }
}

function outputsOf(body: Uint8Array, length: string | null): Tensor[] {
  let at = length === null ? body.length : Number(length)
  const { outputs } = JSON.parse(Buffer.from(body.subarray(0, at)).toString()) as { outputs: AnswerTensor[] }
  return outputs.map(({ name, datatype, shape, data, parameters }) => {
    const info = checkTensorInfo(name, datatype, shape)
    const size = parameters?.binary_data_size
    if (size === undefined) return readShortJson(info, Buffer.from(JSON.stringify(data)))
    const bytes = body.subarray(at, at + size)
    at += size
    return readRaw(info, bytes)
  })
}
