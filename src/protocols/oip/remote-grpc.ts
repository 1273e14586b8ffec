/** Calls of a remote model by node:http2, one connection a server. **Source**: gRPC's PROTOCOL-HTTP2.md. @module */
import { type ClientHttp2Session, connect, constants } from 'node:http2'
import { ClientClosed, ServingError } from '../../core/errors.ts'
import { frameOf } from '../../messages/encoded-message.ts'
import { type MessageFault, UnaryMessage } from '../../messages/unary-message.ts'
import type { ModelCall } from '../../runner/model-host.ts'
import { flagAnswer, inferAnswer, inferRequest, metadataAnswer, modelName } from './grpc-messages.ts'
import {
  badAnswer,
  type RemoteDescription,
  type RemoteRequest,
  type RemoteTransport,
  remoteError,
  remoteInfo,
  shortMs,
  Unsent,
} from './remote-transport.ts'
import { checkTensorInfo, readRaw, type Tensor, writeRaw } from './tensor.ts'

const pingMs = 30_000
// Flow control window per connection and call. **Units**: bytes.
const windowBytes = 4 * 1024 * 1024
const service = '/inference.GRPCInferenceService/'

const statuses: Readonly<Record<number, number>> = { 3: 400, 4: 504, 5: 404, 8: 429, 9: 400, 11: 400, 12: 501, 14: 503 }

/** Connections to servers. */
export class GrpcTransport implements RemoteTransport {
  readonly #sessions = new Map<string, ClientHttp2Session>()
  readonly #calls = new WeakMap<ClientHttp2Session, number>()

  async infer(address: string, { model, version, inputs }: RemoteRequest, call: ModelCall): Promise<readonly Tensor[]> {
    const raws = inputs.map(writeRaw)
    const message = {
      model_name: model,
      model_version: version,
      inputs: inputs.map(({ name, datatype, array: { shape } }) => ({ name, datatype, shape })),
      raw_input_contents: raws,
    }
    const size = raws.reduce((sum, raw) => sum + raw.length + 256, 256)
    const answer = await this.#call(address, 'ModelInfer', inferRequest.encode(message, size), call)
    try {
      const { outputs = [], raw_output_contents: contents = [] } = inferAnswer.decode(answer)
      return outputs.map(({ name, datatype, shape = [] }, i) =>
        readRaw(checkTensorInfo(name, datatype, shape), contents[i] ?? new Uint8Array(0)),
      )
    } catch (cause) {
      throw badAnswer(cause)
    }
  }

  async describe(address: string, model: string, version: string): Promise<RemoteDescription> {
    const message = modelName.encode({ name: model, version })
    const { inputs = [], outputs = [] } = metadataAnswer.decode(
      await this.#call(address, 'ModelMetadata', message, short()),
    )
    return { inputs: inputs.map(remoteInfo), outputs: outputs.map(remoteInfo) }
  }

  async isReady(address: string, model: string, version: string): Promise<boolean> {
    const message = modelName.encode({ name: model, version })
    return flagAnswer.decode(await this.#call(address, 'ModelReady', message, short())).flag === true
  }

  close(): void {
    for (const session of this.#sessions.values()) session.destroy()
    this.#sessions.clear()
  }

  #session(address: string): ClientHttp2Session {
    const open = this.#sessions.get(address)
    if (open !== undefined && !open.closed && !open.destroyed) return open
    const session = connect(address, { settings: { initialWindowSize: windowBytes } })
    session.on('connect', () => session.setLocalWindowSize(windowBytes))
    session.on('error', () => {})
    // Finds a server that is gone silently.
    const timer = setInterval(() => {
      if (!session.destroyed && !session.connecting) session.ping((error) => error !== null && session.destroy())
    }, pingMs)
    timer.unref()
    session.on('close', () => clearInterval(timer))
    this.#sessions.set(address, session)
    return session
  }

  #hold(session: ClientHttp2Session, change: number): void {
    const calls = (this.#calls.get(session) ?? 0) + change
    this.#calls.set(session, calls)
    if (session.destroyed) return
    if (calls === 0) session.unref()
    else session.ref()
  }

  #call(
    address: string,
    method: string,
    message: Uint8Array,
    call: Pick<ModelCall, 'signal' | 'deadlineMs'>,
  ): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const left = call.deadlineMs === undefined ? undefined : Math.max(1, call.deadlineMs - Date.now())
      const session = this.#session(address)
      // A connection without calls keeps no process alive.
      this.#hold(session, 1)
      const stream = session.request({
        ':method': 'POST',
        ':path': service + method,
        'content-type': 'application/grpc',
        te: 'trailers',
        ...(left !== undefined && left < 1e8 && { 'grpc-timeout': `${Math.ceil(left)}m` }),
      })
      const giveUp = () => stream.close(constants.NGHTTP2_CANCEL)
      call.signal.addEventListener('abort', giveUp, { once: true })
      if (call.signal.aborted) giveUp()
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
        this.#hold(session, -1)
        call.signal.removeEventListener('abort', giveUp)
        if (call.signal.aborted) reject(ServingError.is(call.signal.reason) ? call.signal.reason : new ClientClosed())
        else if (status === undefined) reject(new Unsent('the server of the remote model did not answer'))
        else if (status !== 0) reject(remoteError(statuses[status] ?? 500, text))
        else if (fault !== undefined || answer.bytes === undefined) {
          reject(badAnswer(new Error(fault?.details ?? 'expected a message, received none')))
        } else resolve(answer.bytes)
      })
      stream.end(frameOf({ bytes: message, hasRoom: true }))
    })
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
