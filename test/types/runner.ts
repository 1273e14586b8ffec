/**
 * Types of Runner: its methods are those of its model's module. Compiled, never run.
 * @module
 */
import { Context, io, type ModelCall, NDArray, Runner, Service } from 'serving'

/** Compiles only when `A` and `B` are the same type. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const holds = <_T extends true>() => {}

/** What `typeof import('./model.ts')` is for a module that exports `load`. */
interface Model {
  load(init: { readonly path: string }): Promise<{
    predict(x: NDArray<'float32'>, call: ModelCall): NDArray<'int64'>
    describe(text: string): Promise<{ readonly words: number }>
    tokens(prompt: string): AsyncGenerator<string>
    version(): string
    readonly labels: readonly string[]
  }>
}

// Right: methods take what the model's take and promise what they return; one that yields is an iterator.
const iris = new Runner<Model>('iris', {
  module: new URL('file:///model.ts'),
  methods: {
    predict: { batchable: true, maxBatchSize: 32, maxWaitMs: 5 },
    describe: {},
    tokens: { stream: true },
    version: {},
  },
  init: { path: 'iris.json' },
  warmup: { predict: new NDArray(new Float32Array(4), [1, 4]) },
})
const x = new NDArray(new Float32Array(4), [1, 4], 'float32')
const labels = iris.predict(x, new Context())
holds<Same<typeof labels, Promise<NDArray<'int64'>>>>()
const words = iris.describe('text', { signal: AbortSignal.timeout(5) })
holds<Same<typeof words, Promise<{ readonly words: number }>>>()
const tokens = iris.tokens('Once')
holds<Same<typeof tokens, AsyncIterableIterator<string>>>()
const version = iris.version()
holds<Same<typeof version, Promise<string>>>()

// Right: behind an API, with its context.
const svc = new Service('types', { runners: [iris] })
svc.api(
  { input: new io.NumpyNdarray({ dtype: 'float32' }), output: new io.NumpyNdarray() },
  async function classify(given, ctx) {
    return iris.predict(given, ctx)
  },
)
svc.api({ input: new io.Text(), output: new io.Text() }, async function* write(prompt, ctx) {
  yield* iris.tokens(prompt, ctx)
})

// Right: without the module's type, every method takes anything and answers something unknown.
const loose = new Runner('loose', { module: '/model.js', methods: { predict: {} } })
const something: Promise<unknown> = loose.predict(1)

// Wrong: a method of more than one argument and the ModelCall, whose type says so.
interface TwoArguments {
  load(): {
    tokens(prompt: string, max: number): AsyncGenerator<string>
    fine(text: string): string
  }
}
new Runner<TwoArguments>('two', {
  module: '/model.js',
  methods: {
    // @ts-expect-error TS2353: a Runner method takes one argument and the ModelCall
    tokens: { stream: true },
  },
})
const two = new Runner<TwoArguments>('two', { module: '/model.js', methods: { fine: {} } })
holds<
  Same<
    typeof two.tokens,
    { readonly error: 'a Runner method takes one argument and the ModelCall' }
  >
>()
// @ts-expect-error TS2349: a Runner method takes one argument and the ModelCall
two.tokens('Once', 4)
// @ts-expect-error TS2559: a number is no context
two.fine('text', 4)

// Wrong: another input, another output, a method that is not there, or no method.
// @ts-expect-error TS2345: the array is float32
iris.predict(new NDArray(new Float64Array(4), [1, 4], 'float64'))
// @ts-expect-error TS2345: a number is no text
iris.describe(5)
// @ts-expect-error TS2339: there is no such method
iris.classify(x)
// @ts-expect-error TS2339: labels is no method
iris.labels

// Wrong: a service whose function returns what the runner does not.
svc.api(
  { input: new io.Text(), output: new io.Text() },
  // @ts-expect-error TS2345: an object of words is no text
  async function count(text: string) {
    return iris.describe(text)
  },
)

// Wrong: options that do not fit the method.
new Runner<Model>('wrong', {
  module: '/model.js',
  methods: {
    // @ts-expect-error TS2741: it yields, which the runner has to know
    tokens: {},
  },
})
// @ts-expect-error TS2345: the model wants a path
new Runner<Model>('wrong', { module: '/model.js', methods: {}, init: { path: 5 } })
new Runner<Model>('wrong', {
  module: '/model.js',
  // @ts-expect-error TS2353: there is no such method
  methods: { classify: {} },
})

// Right: a model in Python, with the types of its methods.
const python = new Runner<{
  predict(x: NDArray): NDArray<'float64'>
  words(text: string): Generator<string>
}>('py', {
  python: './model.py',
  packages: ['scikit-learn==1.5.2'],
  methods: { predict: { batchable: true }, words: { stream: true } },
  init: { path: 'model.pkl' },
})
holds<Same<ReturnType<typeof python.predict>, Promise<NDArray<'float64'>>>>()
holds<Same<ReturnType<typeof python.words>, AsyncIterableIterator<string>>>()
const untyped: Promise<unknown> = new Runner('py', {
  python: './model.py',
  methods: { predict: {} },
}).predict(1)
// @ts-expect-error TS2345: the model takes arrays
python.predict('text')

export { something, untyped }
