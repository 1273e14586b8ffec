/** Functions that the tests ask on every platform. It also runs in Workers, so it has what is there alone. */
import { type HandlerFunction, type HandlerOptions, io, NDArray, Room } from 'serving/io'

type Descriptor = io.IODescriptor<unknown, never>

/** A function with its options, by its path. */
export interface Route {
  readonly path: string
  readonly options: HandlerOptions<Descriptor, Descriptor>
  readonly fn: HandlerFunction<Descriptor, Descriptor>
}

export const rows = new io.NumpyNdarray({ dtype: 'float32', shape: [-1, 2], enforceShape: true })
export const json = new io.JSON()
export const text = new io.Text()
const room = new Room({ maxInFlight: 4, maxMemoryBytes: 32 * 1024 * 1024 })
let log: string[] = []
/** Options of all routes. */
export const common = { room, onError: (error: Error) => void log.push(error.constructor.name) }

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))
const aborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))

/** Makes a route whose function is typed by its descriptors. */
export function route<I extends Descriptor, O extends Descriptor>(
  path: string,
  options: HandlerOptions<I, O>,
  fn: HandlerFunction<I, O>,
): Route {
  return { path, options: options as never, fn: fn as never }
}

/** What needs nothing of Node. */
export const webRoutes: readonly Route[] = [
  route(
    '/double',
    { input: rows, output: rows, ...common },
    (x) =>
      new NDArray(
        x.data.map((value) => value * 2),
        x.shape,
      ),
  ),
  route('/count', { input: json, output: text, ...common }, async function* (n) {
    for (let i = 0; i < Number(n); i++) {
      await sleep(1)
      yield `${i} `
    }
  }),
  route('/small', { input: text, output: text, ...common, maxBodyBytes: 1000 }, (given) => given),
  route('/late', { input: text, output: text, ...common, timeoutMs: 100 }, async (_, ctx) => {
    await aborted(ctx.signal)
    return 'late'
  }),
  route('/leave', { input: text, output: text, ...common }, async (name, ctx) => {
    ctx.onEnd(() => void log.push(`${name} ended`))
    await aborted(ctx.signal)
    log.push(`${name} aborted`)
    return name
  }),
  route('/slow', { input: text, output: text, ...common, bodyTimeoutMs: 150 }, (given) => given),
  route('/fail', { input: text, output: text, ...common }, () => {
    throw new TypeError('secret')
  }),
  route('/breaks', { input: text, output: text, ...common }, async function* () {
    yield 'one '
    yield 'two '
    throw new TypeError('secret')
  }),
  route('/large', { input: json, output: text, ...common }, (n) => 'x'.repeat(Number(n))),
  // What the requests hold, and what was told since the last time.
  route('/state', { input: text, output: json }, () => {
    const state = { active: room.slots.active, used: room.memory.used, log }
    log = []
    return state
  }),
]
