/** Calls of a remote model by node:http2, one connection a server. @module */
import { type ClientHttp2Session, connect } from 'node:http2'
import { ClientClosed, ServingError } from '../../core/errors.ts'
import { timeoutLines } from '../../http/timeout-header.ts'
import {
  modelInferRequest,
  modelInferResponse,
  modelMetadataRequest,
  modelMetadataResponse,
  modelReadyRequest,
  modelReadyResponse,
} from '../../messages/gen/inference.ts'
import { callUnary } from '../../messages/unary-call.ts'
import type { ModelCall } from '../../runner/model-host.ts'
import {
  badAnswer,
  type RemoteName,
  type RemoteTransport,
  remoteError,
  remoteInfo,
  shortMs,
  Unsent,
} from './remote-transport.ts'
import { checkTensorInfo, readRaw, writeRaw } from './tensor.ts'

const pingMs = 30_000
// Flow control window per connection and call. **Units**: bytes.
const windowBytes = 4 * 1024 * 1024
const service = '/inference.GRPCInferenceService/'

const statuses: Readonly<Record<number, number>> = {
  3: 400,
  4: 504,
  5: 404,
  7: 403,
  8: 429,
  9: 400,
  10: 409,
  11: 400,
  12: 501,
  14: 503,
  16: 401,
}

/** @returns connections to servers. */
export function grpcTransport({ model, version }: RemoteName): RemoteTransport {
  const sessions = new Map<string, ClientHttp2Session>()
  const calls = new WeakMap<ClientHttp2Session, number>()

  const sessionOf = (address: string): ClientHttp2Session => {
    const open = sessions.get(address)
    if (open !== undefined && !open.closed && !open.destroyed) return open
    const session = connect(address, { settings: { initialWindowSize: windowBytes } })
    session.on('connect', () => session.setLocalWindowSize(windowBytes))
    session.on('error', () => {})
    // Finds a server that is gone silently.
    const timer = setInterval(() => {
      if (!session.destroyed && !session.connecting)
        session.ping((error) => error !== null && session.destroy())
    }, pingMs)
    timer.unref()
    session.on('close', () => clearInterval(timer))
    sessions.set(address, session)
    return session
  }

  /** A connection without calls keeps no process alive. */
  const hold = (session: ClientHttp2Session, change: number) => {
    const count = (calls.get(session) ?? 0) + change
    calls.set(session, count)
    if (session.destroyed) return
    if (count === 0) session.unref()
    else session.ref()
  }

  const request = async (
    address: string,
    method: string,
    bytes: Uint8Array,
    { signal, deadlineMs } = short(),
  ): Promise<Buffer> => {
    const session = sessionOf(address)
    hold(session, 1)
    const encoded = { bytes, hasRoom: true }
    const lines = timeoutLines(deadlineMs)
    const { fields, message, fault } = await callUnary(
      session,
      service + method,
      encoded,
      lines,
      signal,
    )
      .catch((cause) => {
        if (signal.aborted)
          throw ServingError.is(signal.reason) ? signal.reason : new ClientClosed()
        throw new Unsent('the server of the remote model did not answer', { cause })
      })
      .finally(() => hold(session, -1))
    const status = Number(fields['grpc-status'])
    const text = decodeMessage(String(fields['grpc-message'] ?? ''))
    if (status !== 0) throw remoteError(statuses[status] ?? 500, text)
    if (fault === undefined && message !== undefined) return message
    throw badAnswer(new Error(fault?.details ?? 'expected a message, received none'))
  }

  return {
    async infer(address, inputs, call) {
      const raws = inputs.map(writeRaw)
      const message = {
        model_name: model,
        model_version: version,
        inputs: inputs.map(({ name, datatype, array: { shape } }) => ({ name, datatype, shape })),
        raw_input_contents: raws,
      }
      const size = raws.reduce((sum, raw) => sum + raw.length + 256, 256)
      const answer = await request(
        address,
        'ModelInfer',
        modelInferRequest.encode(message, size),
        call,
      )
      try {
        const { outputs = [], raw_output_contents: contents = [] } =
          modelInferResponse.decode(answer)
        return outputs.map(({ name, datatype, shape = [] }, i) =>
          readRaw(checkTensorInfo(name, datatype, shape), contents[i] ?? new Uint8Array(0)),
        )
      } catch (cause) {
        throw badAnswer(cause)
      }
    },
    async describe(address) {
      const answer = await request(
        address,
        'ModelMetadata',
        modelMetadataRequest.encode({ name: model, version }),
      )
      const { inputs = [], outputs = [] } = modelMetadataResponse.decode(answer)
      return { inputs: inputs.map(remoteInfo), outputs: outputs.map(remoteInfo) }
    },
    async isReady(address) {
      const answer = await request(
        address,
        'ModelReady',
        modelReadyRequest.encode({ name: model, version }),
      )
      return modelReadyResponse.decode(answer).ready === true
    },
    close() {
      for (const session of sessions.values()) session.destroy()
      sessions.clear()
    },
  }
}

/** Text that is not percent-encoded is kept, as the protocol demands. */
function decodeMessage(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function short(): Pick<ModelCall, 'signal' | 'deadlineMs'> {
  return { signal: AbortSignal.timeout(shortMs), deadlineMs: Date.now() + shortMs }
}
