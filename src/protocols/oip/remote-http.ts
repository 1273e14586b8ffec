/** Calls of a remote model over REST, tensors in binary form. @module */
import type { ModelCall } from '../../runner/model-host.ts'
import { readShortJson } from './infer-json.ts'
import { lengthHeader } from './infer-request.ts'
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
    const body = await bytesOf(response)
    try {
      return outputsOf(body, response.headers.get(lengthHeader))
    } catch (cause) {
      throw badAnswer(cause)
    }
  }

  async describe(address: string, model: string, version: string): Promise<RemoteDescription> {
    const signal = AbortSignal.timeout(shortMs)
    const response = await send(`${address}${pathOf(model, version)}`, { signal })
    const body = await bytesOf(response)
    const { inputs, outputs } = JSON.parse(body.toString()) as Record<string, AnswerTensor[]>
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

/** **Errors**: the server's. */
async function bytesOf(response: Response): Promise<Buffer> {
  const bytes = Buffer.from(await response.arrayBuffer())
  if (response.status === 200) return bytes
  let text = bytes.toString()
  try {
    text = String((JSON.parse(text) as { readonly error?: unknown }).error ?? text)
  } catch {}
  throw remoteError(response.status, text)
}

function outputsOf(body: Buffer, length: string | null): Tensor[] {
  let at = length === null ? body.length : Number(length)
  const { outputs } = JSON.parse(body.toString('utf8', 0, at)) as { outputs: AnswerTensor[] }
  return outputs.map(({ name, datatype, shape, data, parameters }) => {
    const info = checkTensorInfo(name, datatype, shape)
    const size = parameters?.binary_data_size
    if (size === undefined) return readShortJson(info, Buffer.from(JSON.stringify(data)))
    at += size
    return readRaw(info, body.subarray(at - size, at))
  })
}
