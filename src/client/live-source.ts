import type { ApiInfo, DescriptorInfo } from './description.ts'
import { checkSize, decodeFrame, encodeFrame, type Frame } from './live-frames.ts'
import { badArgument } from './serving-error.ts'
import {
  type CallOptions,
  type ClientOptions,
  limitOf,
  networkError,
  type Secret,
  send,
  unlessAborted,
} from './transport.ts'
import type { WebSocketClass } from './web-socket.ts'

/** Options of `open`. */
export interface LiveOptions<I = unknown>
  extends Pick<CallOptions, 'signal' | 'retries' | 'timeoutMs'>,
    Pick<ClientOptions, 'apiKey' | 'token'> {
  /**
   * The function of the service starts from its beginning there.
   *
   * @returns the value that a new connection begins with, after one that broke, such as the place
   * to continue from; undefined for nothing.
   */
  readonly resume?: () => I | undefined
}

/** How many connections may fail in a row: for about two minutes. */
const defaultRetries = 10

/**
 * `encode` and `decode`: values ⇄ messages.
 *
 * @returns the source of a stream to the API that `find` returns, of the service at `base`.
 */
export function liveSource<I>(
  find: () => Promise<ApiInfo>,
  base: string,
  options: ClientOptions,
  given: LiveOptions<I> = {},
  encode = encodeFrame,
  decode: (output: DescriptorInfo, frame: Frame) => unknown = decodeFrame,
) {
  const { retries = defaultRetries, resume } = given
  const all = { ...options, ...given, retries: 0 }
  const limit = limitOf(all)
  const url = async () => {
    const { name, path, isLive } = await unlessAborted(find(), limit.signal)
    if (!isLive) throw badArgument('a live API', `open of ${name}`)
    return base + path
  }
  return {
    limit,
    retries,
    resume,
    /** @throws what makes another attempt useless. */
    connect: async () => openWebSocket(await url(), all),
    /** Asks why no connection was made; undefined if the server would make one. */
    async whyRefused() {
      const refusal = await send(await url(), undefined, all, limit).then(
        () => undefined,
        networkError,
      )
      // The answer to a request without an upgrade that is fine otherwise.
      return refusal?.status === 426 ? undefined : refusal
    },
    async encode(value: unknown) {
      const api = await find()
      const frame = await encode(api, value)
      checkSize(api, frame)
      return frame
    },
    decode: async (frame: Frame) => decode((await find()).output, frame),
  }
}

/**
 * Opens a connection. The secrets are subprotocols: browsers let no headers be set.
 *
 * @throws ServingError.
 */
async function openWebSocket(url: string, { WebSocket: given, apiKey, token }: ClientOptions) {
  const Own = given ?? (globalThis as { readonly WebSocket?: WebSocketClass }).WebSocket
  if (Own === undefined)
    throw badArgument('the option WebSocket, such as that of the package ws,', 'live streams')
  const protocols = ['serving.v1']
  if (token !== undefined) protocols.push(`serving.bearer.${await encoded(token)}`)
  if (apiKey !== undefined) protocols.push(`serving.key.${await encoded(apiKey)}`)
  return new Own(url.replace(/^http/, 'ws'), protocols)
}

async function encoded(secret: Secret): Promise<string> {
  const bytes = new TextEncoder().encode(typeof secret === 'function' ? await secret() : secret)
  const base64 = btoa(String.fromCharCode(...bytes))
  return base64.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
}
