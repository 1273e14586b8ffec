import { byteSize, fromCode, type OptionsOf, readBy } from '../core/option.ts'
import { checkThat } from '../core/options.ts'
import { type Duration, parseDuration } from '../core/text/units.ts'
import {
  type AnyDescriptor,
  IODescriptor,
  type Received,
  type Returned,
} from '../descriptors/descriptor.ts'
import type { Context } from '../http/context.ts'
import { type Api, captureOption, type functionOptions, parseFunction, parseRoute } from './api.ts'
import { isOrigin } from './cors.ts'
import { functionOf } from './function-of.ts'

/** Bounds of `idleTimeout`: uWebSockets.js knows no longer time. **Units**: milliseconds. */
const idleBounds = { least: 100, most: 900_000 }

const single = fromCode<IODescriptor>(
  'an IODescriptor of one value',
  (value) => value instanceof IODescriptor && value.mimeType !== 'multipart/form-data',
)

const liveOptions = {
  input: single.required(),
  output: single.required(),
  /**
   * Largest message of a client; a larger one closes its stream. Above 256 KiB, each stream
   * reserves this much of `maxMemoryBytes` from its start.
   *
   * @default `'256kb'`
   */
  maxMessage: byteSize.or('256kb'),
  /**
   * Above this many bytes that a client has not read, the function waits; a client that is this far
   * ahead of the function waits, too, or is closed.
   *
   * @default `'1mb'`
   */
  maxBuffered: byteSize.or('1mb'),
  /**
   * Closes the stream of a client that sends nothing for so long, not even an answer to a ping.
   *
   * @default `'60s'`
   */
  idleTimeout: readBy(parseIdle).or('60s'),
  /**
   * Pages that may open it beside those of its host: `https://app.example.org`; `*` for any.
   *
   * @default no others
   */
  origins: readBy(parseOrigins).or([]),
  /**
   * Records how long the messages are in both directions, and their SHA-256; `false`: does not.
   *
   * @default the service's
   */
  capture: captureOption,
}

/** How a function that takes and yields messages is registered. */
export interface LiveOptions<I extends AnyDescriptor, O extends AnyDescriptor>
  extends Omit<
    OptionsOf<typeof functionOptions & typeof liveOptions>,
    'input' | 'output' | 'name'
  > {
  /** Of each message that clients send; not Multipart. */
  readonly input: I
  /** Of each message that the function yields; not Multipart. */
  readonly output: O
}

/** Takes the messages of one client, and yields those to it. The stream ends when it returns. */
export type LiveFunction<I, O> = (
  inputs: AsyncIterable<Received<I>>,
  ctx: Context,
) => AsyncIterable<Returned<O>>

declare const liveTypes: unique symbol

/** Marks the result of `svc.live` with its descriptors' types, for typed clients. Types only. */
export interface LiveTypes<I = unknown, O = unknown> {
  readonly [liveTypes]: { readonly input: I; readonly output: O }
}

/** A registered live stream. */
export interface LiveApi
  extends Pick<
    Api,
    | 'name'
    | 'route'
    | 'doc'
    | 'input'
    | 'output'
    | 'auth'
    | 'hooks'
    | 'slots'
    | 'capture'
    | 'sampler'
  > {
  /** The function. Only `live-protocol.ts` calls it. */
  readonly [functionOf]: (inputs: AsyncIterable<unknown>, ctx: Context) => unknown
  /** **Units**: bytes. */
  readonly maxMessage: number
  /** **Units**: bytes. */
  readonly maxBuffered: number
  readonly idleTimeoutMs: number
  readonly origins: readonly string[]
}

/** @throws InvalidArgument that names the mistake. */
export function createLiveApi(
  name: string,
  options: LiveOptions<AnyDescriptor, AnyDescriptor>,
  fn: unknown,
): LiveApi {
  const { common, settings } = parseFunction<LiveApi[typeof functionOf], typeof liveOptions>(
    'svc.live',
    { ...options, name },
    fn,
    name,
    liveOptions,
  )
  const { input, maxMessage, maxBuffered, idleTimeout, origins, capture } = settings
  return {
    ...common,
    route: parseRoute(name),
    input,
    maxMessage,
    maxBuffered,
    idleTimeoutMs: idleTimeout,
    origins,
    capture,
    sampler: undefined,
  }
}

function parseIdle(option: string, given: Duration): number {
  const ms = parseDuration(option, given)
  checkThat(
    ms >= idleBounds.least && ms <= idleBounds.most,
    'a time from 100ms to 15m',
    option,
    given,
  )
  return ms
}

function parseOrigins(option: string, given: readonly string[]): readonly string[] {
  for (const each of given) {
    const isKnown = each === '*' || isOrigin(each)
    checkThat(isKnown, "'*' or an origin like https://app.example.org", option, each)
  }
  return given
}
