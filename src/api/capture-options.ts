/** The option that records what APIs are asked and what they answer. @module */
import {
  byteSize,
  duration,
  listOf,
  type OptionsOf,
  plain,
  readOptions,
  type SettingsOf,
  share,
} from '../core/option.ts'

const captureOptions = {
  /** Share of the calls. */
  rate: share.or(0.01),
  /** `file:./FOLDER`, or `s3://BUCKET/FOLDER?endpoint=URL&region=REGION`, whose keys are AWS's variables. */
  to: plain<string>(
    { type: 'string', pattern: '^(file:|s3://).' },
    '<place>',
    'file:./FOLDER or s3://BUCKET/FOLDER',
  ).required(),
  /** Paths of values that are never written, as `input.email`. */
  redact: listOf<string>(
    'a list of paths such as input.email',
    (path) => typeof path === 'string' && /^(input|output|params)(\..+)?$/.test(path),
  ).or([]),
  /**
   * Above this, a value is kept as length and SHA-256.
   *
   * @default 1 MiB
   */
  maxBytes: byteSize.or('1mb'),
  /** Calls beyond it are dropped, in each worker process. **Units**: MiB. */
  maxMbPerSecond: plain<number>({ type: 'number', minimum: 0 }).or(10),
  /**
   * Older files are deleted.
   *
   * @default never
   */
  maxAge: duration,
}

/** Which calls of an API, or of all APIs of a service, are recorded, and where. */
export interface CaptureOptions extends OptionsOf<typeof captureOptions> {}

/** {@link CaptureOptions} with defaults. */
export type CaptureSettings = SettingsOf<typeof captureOptions>

/**
 * @param place - Names the option in errors.
 * @throws InvalidArgument.
 */
export function parseCapture<G extends CaptureOptions | false | undefined>(
  given: G,
  place: string,
): CaptureSettings | Exclude<G, CaptureOptions> {
  if (given === undefined || given === false) return given as Exclude<G, CaptureOptions>
  return readOptions(place, given, captureOptions)
}

/** What decides which calls a server records. */
export interface Capturing<A, L, M> {
  readonly capture: CaptureSettings | undefined
  readonly apis: ReadonlyMap<string, A>
  readonly routes: ReadonlyMap<string, A>
  readonly lives: ReadonlyMap<string, L>
  readonly models: readonly M[]
}

interface Capturable {
  readonly capture: CaptureSettings | false | undefined
}

/** @returns the APIs, live streams and models of a service that are recorded, and how. */
export function capturedApis<A extends Capturable, L extends Capturable, M extends object>(
  service: Capturing<A, L, M>,
) {
  const { capture, apis, routes, lives, models } = service
  const own = [...apis.values(), ...routes.values(), ...lives.values()]
  return [...own, ...models].flatMap((api) => {
    const settings = ('capture' in api ? api.capture : undefined) ?? capture
    return settings ? [{ api, settings }] : []
  })
}

/** @returns the optional packages that recording needs, for builds. */
export function capturePackages(captured: readonly { readonly settings: CaptureSettings }[]) {
  const hasBucket = captured.some(({ settings }) => settings.to.startsWith('s3:'))
  return captured.length === 0 ? [] : ['parquet-wasm', ...(hasBucket ? ['aws4fetch'] : [])]
}
