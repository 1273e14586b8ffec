/**
 * Calls of a remote model by node:http2, one connection a server.
 *
 * @see gRPC's PROTOCOL-HTTP2.md.
 * @module
 */
import { type ClientHttp2Session, connect, constants } from 'node:http2'
import { ClientClosed, ServingError } from '../../core/errors.ts'
import { timeoutLines } from '../../http/timeout-header.ts'
import { frameOf } from '../../messages/encoded-message.ts'
import { type MessageFault, UnaryMessage } from '../../messages/unary-message.ts'
import type { ModelCall } from '../../runner/model-host.ts'
import {
  flagAnswer,
  inferAnswer,
  inferRequest,
  metadataAnswer,
  modelName,
} from './grpc-messages.ts'
import {
  badAnswer,
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
  8: 429,
  9: 400,
  11: 400,
  12: 501,
  14: 503,
}

/** @returns connections to servers. */
export function grpcTransport(): RemoteTransport {
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

  const request = (
    address: string,
    method: string,
    message: Uint8Array,
    given = short(),
  ): Promise<Buffer> =>
    new Promise((resolve, reject) => {
      const { signal, deadlineMs } = given
      const session = sessionOf(address)
      hold(session, 1)
      const stream = session.request({
        ':method': 'POST',
        ':path': service + method,
        'content-type': 'application/grpc',
        te: 'trailers',
        ...timeoutLines(deadlineMs),
      })
      const giveUp = () => stream.close(constants.NGHTTP2_CANCEL)
      signal.addEventListener('abort', giveUp, { once: true })
      if (signal.aborted) giveUp()
      const answer = new UnaryMessage(Number.POSITIVE_INFINITY)
      let fault: MessageFault | undefined
      let status: number | undefined
      let text = ''
      const readStatus = (headers: Readonly<Record<string, unknown>>) => {
        if (headers['grpc-status'] === undefined) return
        status = Number(headers['grpc-status'])
        text = decodeMessage(String(headers['grpc-message'] ?? ''))
      }
      stream.on('response', readStatus)
      stream.on('trailers', readStatus)
      stream.on('data', (piece: Buffer) => {
        fault ??= answer.take(piece)
      })
      stream.on('error', () => {})
      stream.on('close', () => {
        hold(session, -1)
        signal.removeEventListener('abort', giveUp)
        if (signal.aborted)
          reject(ServingError.is(signal.reason) ? signal.reason : new ClientClosed())
        else if (status === undefined)
          reject(new Unsent('the server of the remote model did not answer'))
        else if (status !== 0) reject(remoteError(statuses[status] ?? 500, text))
        else if (fault !== undefined || answer.bytes === undefined) {
          reject(badAnswer(new Error(fault?.details ?? 'expected a message, received none')))
        } else resolve(answer.bytes)
      })
      stream.end(frameOf({ bytes: message, hasRoom: true }))
    })

  return {
    async infer(address, { model, version, inputs }, call) {
      const raws = inputs.map(writeRaw)
      const message = {
        model_name: model,
        model_version: version,
        inputs: inputs.map(({ name, datatype, array: { shape } }) => ({ name, datatype, shape })),
        raw_input_contents: raws,
      }
      const size = raws.reduce((sum, raw) => sum + raw.length + 256, 256)
      const answer = await request(address, 'ModelInfer', inferRequest.encode(message, size), call)
      try {
        const { outputs = [], raw_output_contents: contents = [] } = inferAnswer.decode(answer)
        return outputs.map(({ name, datatype, shape = [] }, i) =>
          readRaw(checkTensorInfo(name, datatype, shape), contents[i] ?? new Uint8Array(0)),
        )
      } catch (cause) {
        throw badAnswer(cause)
      }
    },
    async describe(address, model, version) {
      const answer = await request(
        address,
        'ModelMetadata',
        modelName.encode({ name: model, version }),
      )
      const { inputs = [], outputs = [] } = metadataAnswer.decode(answer)
      return { inputs: inputs.map(remoteInfo), outputs: outputs.map(remoteInfo) }
    },
    async isReady(address, model, version) {
      const answer = await request(
        address,
        'ModelReady',
        modelName.encode({ name: model, version }),
      )
      return flagAnswer.decode(answer).flag === true
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
