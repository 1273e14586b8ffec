/**
 * A protocol: what a server answers beside others, on its HTTP port, over gRPC, or both. Those that are built in are
 * attached to the same host as those of others. @module
 */

import type { ServingError } from '../core/errors.ts'
import type { MaybePromise } from '../core/promise.ts'
import type { HeaderNames } from '../http/message.ts'
import type { EncodedMessage } from '../messages/encoded-message.ts'
import type { RunnerLife } from '../runner/runner.ts'
import type { MetricFamily } from '../telemetry/metrics/metric-family.ts'
import type { Api } from './api.ts'
import type { Endpoint } from './endpoint.ts'
import type { LiveRoute, OpenedLive } from './live-route.ts'
import type { PageEntry } from './page-entry.ts'
import type { Access, Visit } from './visit.ts'

/** A protocol, for the option `protocols` of a Service. */
export interface Protocol {
  /** For errors of its set-up. */
  readonly name: string
  /** Loaded and released with the service. */
  readonly runners?: readonly RunnerLife[]
  /**
   * Tells a server what it answers. Called once for each server, before it listens; also for documents, when nothing is
   * started.
   */
  attach(host: Host): void | Promise<void>
}

/** The part of a Service that protocols see. No function is among it: {@link Visit} calls them. */
export interface ServedApis {
  readonly name: string
  readonly doc: string | undefined
  readonly version: string | undefined
  /** The APIs that clients may call by name. */
  readonly apis: ReadonlyMap<string, Api>
}

/** The server that a protocol is attached to. */
export interface Host {
  readonly service: ServedApis
  /** The base URL's path without a slash at its end: in front of every path of the service. */
  readonly prefix: string
  /** Whether names of APIs and models may be published. */
  readonly introspection: boolean
  /** All endpoints so far. */
  readonly endpoints: readonly Endpoint[]
  /** All methods of gRPC so far. */
  readonly methods: readonly RpcMethod[]
  /** All entries of the page so far. */
  readonly pageEntries: readonly PageEntry[]
  /** @returns why the server should get no requests now; undefined if it should. */
  unready(): string | undefined
  /** Logs an error that comes after the answer's status. */
  logLate(error: ServingError, requestId: string): void
  /** Logs what an option of the service cannot do. */
  warn(message: string): void
  /**
   * Adds a path of the HTTP port.
   *
   * @throws InvalidArgument, when all protocols are attached, for a path that another one has.
   */
  http(endpoint: Endpoint): void
  /** Adds a method of gRPC. With `connect` it is also answered on the HTTP port, by the Connect protocol. */
  rpc(method: RpcMethod): void
  /** Adds a live stream at a path of the HTTP port. */
  live(route: LiveRoute): void
  /** Adds what `/metrics` tells. */
  metrics(collect: () => MaybePromise<readonly MetricFamily[]>): void
  /**
   * Lists a path on the page. Paths with an `operation` are there already, and those of the service's own protocols
   * without one.
   */
  page(entry: PageEntry): void
  /**
   * Joins the processes that serve the same service, which answer questions of this topic. Questions and answers are
   * JSON.
   *
   * @param answer - Answers a question of another process. Never rejects.
   */
  group<Q, A>(topic: string, answer: (question: Q) => Promise<A>): Group<Q, A>
}

/** The other processes of a service. */
export interface Group<Q, A> {
  /**
   * Asks all of them. Returns the answers of those that answer in time, and `late` for each of the others.
   * Processes that end meanwhile have no answer.
   */
  ask(question: Q, how: AskOptions): Promise<readonly (A | 'late')[]>
}

/** How the other processes are asked. */
export interface AskOptions {
  /** **Units**: milliseconds. */
  readonly withinMs: number
  /** A process that starts later is asked, too, by the last question of this key. */
  readonly remember?: string
  /**
   * Whether a reload ends what the question is about: processes that started after another one are not asked.
   *
   * @default false
   */
  readonly untilReload?: boolean
}

/** A message in bytes, or the error in its place. */
export type BytesAnswer = EncodedMessage | { readonly error: ServingError }

interface RpcMethodBase {
  /** `/package.Service/Method`. */
  readonly path: string
  readonly access: Access
  /**
   * What gRPC's reflection tells of its service: the FileDescriptorProto of its file, and those that this imports, as
   * `protoc --descriptor_set_out --include_imports` has them.
   *
   * @default the name of the service alone
   */
  readonly files?: readonly Uint8Array[]
}

/** A method with one message each way. */
export interface UnaryMethod extends RpcMethodBase {
  readonly kind: 'unary'
  /** If set, it is also answered on the HTTP port, by the Connect protocol. */
  readonly connect?: {
    readonly operation?: Endpoint['operation']
    readonly readsHeaders: HeaderNames
    /** Whether it takes messages in JSON, and answers them so. */
    readonly speaksJson: boolean
  }
  /** Answers a message, which it owns. `isJson`: by Connect. Never throws, never rejects. */
  answer(message: Uint8Array, visit: Visit, isJson: boolean): MaybePromise<BytesAnswer>
}

/** A method that answers a message by any number of messages. */
export interface StreamMethod extends RpcMethodBase {
  readonly kind: 'stream'
  /** As of {@link UnaryMethod}. An operation has no form for messages that follow each other. */
  readonly connect?: Omit<NonNullable<UnaryMethod['connect']>, 'operation'>
  /**
   * Answers a message, which it owns. `isJson`: by Connect. `undefined` among its messages: nothing has happened for a
   * while, and a server that stops ends the stream. A rejection is the status of the call.
   *
   * @returns the messages, each sent when the client has room for it.
   */
  answer(
    message: Uint8Array,
    visit: Visit,
    isJson: boolean,
  ): MaybePromise<AsyncIterable<Uint8Array | undefined>>
}

/** A method that answers each message of a client by any number of messages. Each message is a visit of its own. */
export interface DuplexMethod extends RpcMethodBase {
  readonly kind: 'duplex'
  answer(message: Uint8Array, visit: Visit): AsyncIterable<Uint8Array>
}

/** A method whose messages, in both directions, are one live stream. */
export interface LiveMethod extends RpcMethodBase {
  readonly kind: 'live'
  /** Opens the stream that the first message asks for. Rejects with why there is no such stream. */
  open(message: Uint8Array, visit: Visit): Promise<OpenedLive>
}

/** A method of gRPC. */
export type RpcMethod = UnaryMethod | StreamMethod | DuplexMethod | LiveMethod
