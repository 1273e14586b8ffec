/** Calls of a remote model over REST, tensors in binary form. @module */
import { timeoutLines } from '../../http/timeout-header.ts'
import { readShortJson } from './infer-json.ts'
import { lengthHeader } from './infer-request.ts'
import {
  badAnswer,
  type RemoteName,
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

/** @returns calls by Node's fetch, which keeps connections. */
export function httpTransport({ model, version }: RemoteName): RemoteTransport {
  const path = `/v2/models/${encodeURIComponent(model)}${version && `/versions/${version}`}`
  return {
    async infer(address, inputs, call) {
      const parts = inputs.map(writeRaw)
      const infos = inputs.map(({ name, datatype, array }, i) => ({
        name,
        datatype,
        shape: array.shape,
        parameters: { binary_data_size: parts[i].length },
      }))
      const json = Buffer.from(
        JSON.stringify({ inputs: infos, parameters: { binary_data_output: true } }),
      )
      const { body, headers } = await answerOf(`${address}${path}/infer`, {
        method: 'POST',
        headers: {
          'content-type': 'application/octet-stream',
          [lengthHeader]: String(json.length),
          ...(call.traceparent !== undefined && { traceparent: call.traceparent }),
          ...timeoutLines(call.deadlineMs),
        },
        body: Buffer.concat([json, ...parts]),
        signal: call.signal,
      })
      try {
        return outputsOf(body, headers.get(lengthHeader))
      } catch (cause) {
        throw badAnswer(cause)
      }
    },

    async describe(address) {
      const signal = AbortSignal.timeout(shortMs)
      const { body } = await answerOf(address + path, { signal })
      const { inputs, outputs } = JSON.parse(body.toString()) as Record<string, AnswerTensor[]>
      return { inputs: inputs.map(remoteInfo), outputs: outputs.map(remoteInfo) }
    },

    async isReady(address) {
      const response = await fetch(`${address}${path}/ready`, {
        signal: AbortSignal.timeout(shortMs),
      })
      await response.arrayBuffer()
      return response.status === 200
    },
  }
}

/**
 * @throws the server's; Unsent without an answer: another may be asked, since inferences change
 * nothing.
 */
async function answerOf(url: string, init: RequestInit) {
  const response = await fetch(url, init).catch((cause) => {
    if (init.signal?.aborted) throw cause
    throw new Unsent('the server of the remote model did not answer', { cause })
  })
  const body = Buffer.from(await response.arrayBuffer())
  if (response.status === 200) return { body, headers: response.headers }
  let text = body.toString()
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
