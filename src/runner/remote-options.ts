/** Options of a Runner whose model runs on another server. @module */

import type { DType } from '../core/dtype.ts'
import { checkedLater, type OptionsOf, plain, readOptions, text, whole } from '../core/option.ts'
import { checkOptions, checkThat } from '../core/options.ts'
import type { NDArray } from '../values/array/ndarray.ts'
import {
  anyRunnerOptions,
  type BatchOptions,
  type CallOptions,
  type RunnerOptions,
} from './runner-options.ts'

/** The options of a {@link Runner} that calls another server. */
export const remoteOptions = {
  /** `http://host:port` for REST, `grpc://host:port` for gRPC. Calls go in turn to all in a list and all addresses. */
  url: checkedLater<string | readonly string[]>().required(),
  /**
   * The model's name there.
   *
   * @default the Runner's
   */
  model: text('<name>', 'the name of a model'),
  /** @default the server's choice */
  version: plain<string>({ type: 'string' }).or(''),
  /**
   * How calls are batched before they are sent.
   *
   * @default unbatched
   */
  methods: checkedLater<{ readonly predict?: BatchOptions }>().or({}),
  /**
   * Requests under way at once.
   *
   * @default 64
   */
  concurrency: whole(1).or(64),
  /**
   * Calls that may wait; one more is refused with 503.
   *
   * @default 1024
   */
  maxQueue: anyRunnerOptions.maxQueue,
}

/** Options of a {@link Runner} that calls another server by the Open Inference Protocol. */
export interface RemoteOptions extends OptionsOf<typeof remoteOptions> {}

/** The methods of a Runner whose model runs on another server. */
export interface RemoteMethods {
  predict(x: NDArray, options?: CallOptions): Promise<NDArray>
  run(
    feeds: Readonly<Record<string, NDArray>>,
    options?: CallOptions,
  ): Promise<Record<string, NDArray>>
  describe(input?: undefined, options?: CallOptions): Promise<RemoteTensors>
}

/** The inputs and outputs of a remote model. **Shape**: -1 for any size. */
export interface RemoteTensors {
  readonly inputs: readonly RemoteTensor[]
  readonly outputs: readonly RemoteTensor[]
}

/** An input or output of a remote model. */
export interface RemoteTensor {
  readonly name: string
  readonly dtype: DType
  readonly shape: readonly number[]
}

/** The end of a remote model and its readiness. */
export interface RemoteLife {
  readonly stopped: AbortSignal
  /** Called with the reason if the model becomes unready, and with undefined if it is ready again. */
  report(problem: string | undefined): void
}

/**
 * @returns the options of an inline Runner that calls the servers.
 * @throws InvalidArgument.
 */
export function remoteRunnerOptions(name: string, options: RemoteOptions): RunnerOptions {
  const place = `the runner ${name}`
  const settings = readOptions(place, options, remoteOptions)
  const { url, model = name, version, methods, ...rest } = settings
  const urls = [url].flat()
  const protocols = new Set(urls.map((each) => protocolOf(each, place)))
  checkThat(protocols.size === 1, 'URLs of one protocol', `url of ${place}`, url)
  checkOptions(`methods of ${place}`, methods, ['predict'])
  return {
    ...rest,
    threads: 0,
    module: new URL(
      `../protocols/oip/remote-model.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`,
      import.meta.url,
    ),
    init: { urls, model, version },
    methods: { predict: methods.predict ?? {}, run: {}, describe: {} },
  }
}

function protocolOf(url: unknown, place: string): string {
  const protocol = typeof url === 'string' && URL.canParse(url) ? new URL(url).protocol : ''
  const isKnown = ['http:', 'https:', 'grpc:', 'grpcs:'].includes(protocol)
  checkThat(isKnown, 'http://host:port or grpc://host:port', `url of ${place}`, url)
  return protocol
}
