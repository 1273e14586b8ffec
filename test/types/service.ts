/**
 * Types of Service, `svc.api` and the context. Compiled, never run.
 * @module
 */
import { type ApiTypes, type Context, HeaderList, io, NDArray, Service } from 'serving'

const svc = new Service('types', { doc: 'Types only' })
const text = new io.Text()
const array = new io.NumpyNdarray({ dtype: 'float32' })

/** Compiles only when `A` and `B` are the same type. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const holds = <_T extends true>() => {}

// Right: what goes in comes back, with its own type and not that of the descriptors.
const greet = svc.api({ input: text, output: text }, function greet(name) {
  return `Hello, ${name}!`
})
const greeting: string = greet('Ada')
const later = svc.api({ input: text, output: text }, async function later(name: string) {
  return name.length > 3 ? 'long' : 'short'
})
holds<
  Same<typeof later, ((name: string) => Promise<'long' | 'short'>) & ApiTypes<io.Text, io.Text>>
>()
const stream = svc.api({ input: text, output: text }, async function* stream(name: string) {
  yield name
})
holds<
  Same<
    typeof stream,
    ((name: string) => AsyncGenerator<string, void, unknown>) & ApiTypes<io.Text, io.Text>
  >
>()
const optional = svc.api(
  { input: text, output: text },
  function optional(name: string, ctx?: Context) {
    return `${name} ${ctx?.id ?? ''}`
  },
)
const alone: string = optional('Ada')
const total: (x: NDArray<'float32'>) => NDArray = svc.api(
  { input: array, output: new io.NumpyNdarray() },
  function total(x) {
    return new NDArray(Float32Array.of(x.data.reduce((sum, value) => sum + value, 0)), [])
  },
)

// Right: the context is inferred, and may be left out.
svc.api({ input: text, output: text, name: 'a', route: 'v1/a', doc: 'A' }, (_name, ctx) => {
  const given: Context = ctx
  const agent: string | undefined = ctx.headers.get('user-agent')
  const page: string | null = ctx.query.get('page')
  ctx.response.status = 201
  ctx.response.setHeader('x-page', page ?? '1')
  ctx.response.setCookie('seen', 'yes', { maxAge: 60, httpOnly: true })
  return `${given.id} ${agent} ${ctx.remainingMs}`
})
svc.api({ input: text, output: text, name: 'b' }, () => 'whatever')

// Right: functions declared elsewhere, methods among them.
const model = { name: 'iris', run: (value: string) => value }
async function declared(value: string, ctx: Context): Promise<string> {
  return `${value} ${ctx.id}`
}
svc.api({ input: text, output: text }, model.run)
svc.api({ input: text, output: text }, declared)

// Right: an API is called without a socket, behind its hooks and its auth.
void svc.inject({ path: '/greet', body: 'Ada' })
// Wrong: past them.
// @ts-expect-error TS2339: an API does not give its function away
svc.apis.get('greet')?.fn('Ada')
svc.onStartup(async () => {})
svc.onShutdown(() => {})

// Wrong: registration.
// @ts-expect-error TS2353: an option misspelled
svc.api({ input: text, output: text, nmae: 'c' }, (value) => value)
// @ts-expect-error TS2741: an output is missing
svc.api({ input: text }, (value: string) => value)
// @ts-expect-error TS2322: a string is no descriptor
svc.api({ input: 'text', output: text }, () => '')
// @ts-expect-error TS2322: a class is no descriptor
svc.api({ input: io.Text, output: text }, () => '')
// @ts-expect-error TS2322: a name is a string
svc.api({ input: text, output: text, name: 5 }, (value) => value)
// @ts-expect-error TS2554: a function is missing
svc.api({ input: text, output: text })
// @ts-expect-error TS2345: a string is no function
svc.api({ input: text, output: text }, 'greet')
// @ts-expect-error TS2345: functions get two arguments at most
svc.api({ input: text, output: text }, (value: string, _ctx: Context, more: string) => value + more)
// @ts-expect-error TS2345: the second argument is the context
svc.api({ input: text, output: text }, (value: string, second: string) => value + second)

// Wrong: the service and its hooks.
// @ts-expect-error TS2554: a service has a name
new Service()
// @ts-expect-error TS2561: an option misspelled
new Service('types', { docs: '' })
// @ts-expect-error TS2345: a hook is a function
svc.onStartup('now')
// @ts-expect-error TS2540: the name stays
svc.name = 'other'

// Wrong: use of what came back and of the context.
// @ts-expect-error TS2322: the function gives a string
const wrong: number = greet('Ada')
// @ts-expect-error TS2345: the function takes a string
greet(5)
// @ts-expect-error TS2339: the context has no such member
svc.api({ input: text, output: text }, (value, ctx) => value + ctx.request)
svc.api({ input: text, output: text }, (value, ctx) => {
  // @ts-expect-error TS2322: a status is a number
  ctx.response.status = '201'
  return value
})
svc.api({ input: text, output: text }, (value, ctx) => {
  // @ts-expect-error TS2540: request headers are read only
  ctx.headers = new HeaderList([], [])
  return value
})

export { alone, greeting, total, wrong }

// Right: an example is what the function receives, of an array also lists.
const arrays = [
  { name: 'a', input: NDArray.from([1, 2]) },
  { name: 'b', input: [[1, 2]] },
] as const
svc.api({ input: array, output: text, name: 'with_examples', examples: arrays }, () => '')
// Wrong: an example of another kind.
svc.api(
  {
    input: text,
    output: text,
    name: 'with_wrong_example',
    // @ts-expect-error TS2322: a number is no text
    examples: [{ name: 'a', input: 3 }],
  },
  () => '',
)
