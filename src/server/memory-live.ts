/** Live streams without sockets, for `svc.inject.live`. @module */

import type {
  InjectedLive,
  InjectedMessage,
  InjectLiveRequest,
  InjectMessage,
} from '../api/inject.ts'
import { noParams } from '../api/visit.ts'
import { ClientClosed, expected, InvalidArgument, NotFound } from '../core/errors.ts'
import { checkOptions } from '../core/options.ts'
import { refusalOf } from '../engine/admission.ts'
import { LiveCall } from '../engine/live-call.ts'
import { parseLimits } from '../engine/options.ts'
import { splitTarget } from '../engine/router.ts'
import { noPeer } from '../engine/served-visit.ts'
import { Context } from '../http/context.ts'
import { HeaderList, type HttpResponse } from '../http/message.ts'
import { LiveCodec, type LiveMessage } from '../live/live-codec.ts'
import type { LiveEndpoint } from '../live/live-streams.ts'
import { runLive } from '../live/run-live.ts'
import { collected, serverInMemory } from './memory-engine.ts'
import type { ServedService } from './served-service.ts'

/**
 * Opens a live stream as a server would.
 *
 * @throws InvalidArgument for a wrong request.
 */
export async function injectLive(
  service: ServedService,
  request: InjectLiveRequest,
): Promise<InjectedLive> {
  checkOptions('inject.live', request, ['path', 'headers', 'inputs'])
  const { path: url, headers: given = {}, inputs = [] } = request
  if (typeof url !== 'string')
    throw new InvalidArgument(expected('a string', 'path of inject.live', url))
  const server = await serverInMemory(service, parseLimits({}), '')
  const target = { method: 'GET', ...splitTarget(url), params: noParams }
  const headers = HeaderList.from(given)
  const peer = noPeer.remoteAddress
  const endpoint = server.lives.endpoints.find((each) => each.path === target.path)
  if (endpoint === undefined) {
    const error = new NotFound(expected('the path of a live stream', 'inject.live', url))
    return refused(refusalOf(server, error, { ...target, headers, peer }))
  }
  const call = new LiveCall(server, { endpoint, target, headers, peer })
  const refusal = await call.admit()
  if (refusal !== undefined) return refused(refusal)
  call.accepted()
  const messages = run(call, endpoint, inputs)
  return { refusal: undefined, [Symbol.asyncIterator]: () => messages[Symbol.asyncIterator]() }
}

function refused(response: HttpResponse): InjectedLive {
  const refusal = collected(response, response.headers, Buffer.from(response.body as string))
  return { refusal, async *[Symbol.asyncIterator]() {} }
}

/** The function waits until each of its messages is taken. */
function run(
  call: LiveCall,
  { route, codec }: LiveEndpoint,
  inputs: AsyncIterable<InjectMessage> | Iterable<InjectMessage>,
): ReadableStream<InjectedMessage> {
  const { readable, writable } = new TransformStream<InjectedMessage, InjectedMessage>()
  const writer = writable.getWriter()
  const encoding = LiveCodec.contextFor(call.ctx.headers)
  const send = async (result: unknown) => {
    await writer.write(messageOf(await codec.encode(result, encoding)))
  }
  writer.closed.catch(() => call.ctx.abort(new ClientClosed()))
  runLive(route, decoded(codec, inputs, call.ctx), send, call)
    .then(
      () => writer.close(),
      (error) => writer.abort(error),
    )
    .catch(() => {})
    .finally(() => call.ended())
  return readable
}

async function* decoded(
  codec: LiveCodec,
  inputs: AsyncIterable<InjectMessage> | Iterable<InjectMessage>,
  { headers }: Context,
) {
  for await (const input of inputs) {
    const isText = !(input instanceof Uint8Array)
    const text = isText && typeof input !== 'string' ? JSON.stringify(input) : input
    const bytes = isText ? Buffer.from(text as string) : Uint8Array.from(input)
    yield codec.decode(bytes, isText, false, new Context({ headers }))
  }
}

function messageOf({ content, isText }: LiveMessage): InjectedMessage {
  const body = new Uint8Array(Buffer.from(content as Uint8Array))
  const text = () => Buffer.from(body).toString()
  return { isText, body, text, json: () => JSON.parse(text()) }
}
