import { checkThat } from '../core/options.ts'
import { type ByteSize, type Duration, parseByteSize, parseDuration } from '../core/text/units.ts'
import {
  type AnyDescriptor,
  IODescriptor,
  type Received,
  type Returned,
} from '../descriptors/descriptor.ts'
import type { Context } from '../http/context.ts'
import { type Api, type ApiOptions, parseFunction, parseRoute } from './api.ts'
import { type CaptureOptions, parseCapture } from './capture-options.ts'
import { functionOf } from './function-of.ts'
import type { HookOptions } from './hooks.ts'

/** How a function that takes and yields messages is registered. */
export interface LiveOptions<I extends AnyDescriptor, O extends AnyDescriptor>
  extends HookOptions,
    Pick<ApiOptions<I, O>, 'doc' | 'auth' | 'maxInFlight'> {
  /** Of each message that clients send; not Multipart. */
  readonly input: I
  /** Of each message that the function yields; not Multipart. */
  readonly output: O
  /**
   * Largest message of a client; a larger one closes its stream. Above 256 KiB, each stream
   * reserves this much of `maxMemoryBytes` from its start.
   *
   * @default `'256kb'`
   */
  readonly maxMessage?: ByteSize
  /**
   * Above this many bytes that a client has not read, the function waits; a client that is this far
   * ahead of the function waits, too, or is closed.
   *
   * @default `'1mb'`
   */
  readonly maxBuffered?: ByteSize
  /**
   * Closes the stream of a client that sends nothing for so long, not even an answer to a ping.
   *
   * @default `'60s'`
   */
  readonly idleTimeout?: Duration
  /**
   * Pages that may open it beside those of its host: `https://app.example.org`; `*` for any.
   *
   * @default no others
   */
  readonly origins?: readonly string[]
  /**
   * Records how long the messages are in both directions, and their SHA-256; `false`: does not.
   *
   * @default the service's
   */
  readonly capture?: CaptureOptions | false
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

const optionNames = ['input', 'maxMessage', 'maxBuffered', 'idleTimeout', 'origins', 'capture']

/** @throws InvalidArgument that names the mistake. */
export function createLiveApi(
  name: string,
  options: LiveOptions<AnyDescriptor, AnyDescriptor>,
  fn: unknown,
): LiveApi {
  const common = parseFunction<LiveApi[typeof functionOf]>(
    'svc.live',
    { ...options, name },
    fn,
    name,
    optionNames,
  )
  const {
    input,
    maxMessage = '256kb',
    maxBuffered = '1mb',
    idleTimeout = '60s',
    origins = [],
  } = options
  const single = (value: unknown) =>
    value instanceof IODescriptor && value.mimeType !== 'multipart/form-data'
  checkThat(single(input), 'an IODescriptor of one value', `input of ${name}`, input)
  checkThat(
    single(common.output),
    'an IODescriptor of one value',
    `output of ${name}`,
    common.output,
  )
  for (const each of origins) {
    const isOrigin = each === '*' || (URL.canParse(each) && new URL(each).origin === each)
    checkThat(isOrigin, "'*' or an origin like https://app.example.org", `origins of ${name}`, each)
  }
  return {
    ...common,
    route: parseRoute(name),
    input: input as IODescriptor,
    maxMessage: parseByteSize(`maxMessage of ${name}`, maxMessage),
    maxBuffered: parseByteSize(`maxBuffered of ${name}`, maxBuffered),
    idleTimeoutMs: parseIdle(`idleTimeout of ${name}`, idleTimeout),
    origins,
    capture: parseCapture(options.capture, `capture of ${name}`),
    sampler: undefined,
  }
}

/** Bounds of `idleTimeout`: uWebSockets.js knows no longer time. **Units**: milliseconds. */
const idleBounds = { least: 100, most: 900_000 }

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
