/**
 * Types of functions behind Text. Compiled, never run.
 * @module
 */
import { io, type NDArray, Service } from 'serving'

const svc = new Service('types')
const text = new io.Text()
const events = new io.Text({ contentType: 'text/event-stream' })
const wait = () => Promise.resolve()

// Right: a string now or later; a generator of strings or events.
svc.api({ input: text, output: text }, function a(value) {
  const word: string = value
  return word.trim()
})
svc.api({ input: text, output: text }, async function b(value) {
  await wait()
  return value.trim()
})
svc.api({ input: text, output: text }, async function* c(value) {
  for (const word of value.split(' ')) yield word
})
svc.api({ input: text, output: events }, async function* d(value, ctx) {
  const signal: AbortSignal = ctx.signal
  yield { data: value }
  yield { data: value, event: 'word', id: '1', retry: 1000 }
  if (!signal.aborted) yield 'as it is'
})
svc.api({ input: text, output: text }, function* e(value) {
  yield value
})
svc.api({ input: text, output: text }, function f(value) {
  return value.split(' ')
})
svc.api({ input: text, output: text }, async function g(value) {
  async function* words() {
    yield* value.split(' ')
  }
  await wait()
  return words()
})
svc.api({ input: text, output: text }, () => new ReadableStream<string>())
svc.api({ input: io.Text.fromSample('hello'), output: text, name: 'h' }, (value) =>
  value.toUpperCase(),
)

// Wrong: what the function returns or yields.
// @ts-expect-error TS2322: a number is no text
svc.api({ input: text, output: text, name: 'i' }, (value) => value.length)
// @ts-expect-error TS2322: nor is a promise of one
svc.api({ input: text, output: text, name: 'j' }, async (value) => value.length)
// @ts-expect-error TS2322: nor is nothing
svc.api({ input: text, output: text, name: 'k' }, () => undefined)
// @ts-expect-error TS2322: nor are bytes
svc.api({ input: text, output: text, name: 'l' }, (value) => Buffer.from(value))
// @ts-expect-error TS2345: pieces are no numbers
svc.api({ input: text, output: text, name: 'm' }, async function* (value) {
  yield value.length
})
// @ts-expect-error TS2345: not even some of them
svc.api({ input: text, output: text, name: 'n' }, async function* (value) {
  yield value
  yield 1
})
// @ts-expect-error TS2345: pieces are no bytes
svc.api({ input: text, output: text, name: 'o' }, async function* (value) {
  yield Buffer.from(value)
})
// @ts-expect-error TS2345: an event has data
svc.api({ input: text, output: events, name: 'p' }, async function* (value) {
  yield { event: value }
})
// @ts-expect-error TS2345: the data of an event is a string
svc.api({ input: text, output: events, name: 'q' }, async function* (value) {
  yield { data: value.length }
})

// Wrong: what the function takes its input for.
// @ts-expect-error TS2345: text is no array
svc.api({ input: text, output: text, name: 'r' }, (value: NDArray) => String(value.size))
// @ts-expect-error TS2345: text is not bytes
svc.api({ input: text, output: text, name: 's' }, (value: Uint8Array) => String(value.length))
// @ts-expect-error TS2339: there is no such member
svc.api({ input: text, output: text, name: 't' }, (value) => value.strip())

// Wrong: options.
// @ts-expect-error TS2322: no such content type
new io.Text({ contentType: 'text/html' })
// @ts-expect-error TS2561: an option of the spec's spelling
new io.Text({ content_type: 'text/plain' })
// @ts-expect-error TS2345: a sample is text
io.Text.fromSample(5)
