/**
 * Types of descriptors of one's own and the functions behind them. Compiled, never run.
 * @module
 */
import {
  BadInput,
  type Context,
  type HeaderLine,
  type HttpRequest,
  type HttpResponse,
  io,
  type NDArrayMessage,
  type ProtoField,
  Service,
} from 'serving'

const svc = new Service('types')

class Point {
  readonly #x: number
  constructor(x: number) {
    this.#x = x
  }
  get x(): number {
    return this.#x
  }
}

// Right: one type both ways, or one for each; now or later; with the context or without.
class Points extends io.IODescriptor<Point> {
  readonly mimeType = 'text/x-point'
  override readonly readsHeaders = ['accept']
  readonly #scale = 1
  fromHttpRequest(request: HttpRequest): Point {
    const x = Number(Buffer.from(request.peek()).toString()) * this.#scale
    if (Number.isNaN(x))
      throw new BadInput('expected a number for Points, received none', { reason: 'syntax' })
    return new Point(x)
  }
  toHttpResponse(value: Point): HttpResponse {
    return { headers: [['content-type', this.mimeType]], body: String(value.x) }
  }
}
class Lines extends io.IODescriptor<AsyncIterable<string>, readonly string[] | Iterable<string>> {
  readonly mimeType: string = 'text/plain'
  async fromHttpRequest(request: HttpRequest, ctx?: Context): Promise<AsyncIterable<string>> {
    const text = `${ctx?.id} ${Buffer.from(request.body).toString()}`
    return (async function* () {
      yield* text.split('\n')
    })()
  }
  async toHttpResponse(value: readonly string[] | Iterable<string>): Promise<HttpResponse> {
    return { status: 200, headers: [], body: [...value] }
  }
}
const points = new Points()
const lines = new Lines()

svc.api({ input: points, output: points, name: 'a' }, (point) => new Point(point.x + 1))
svc.api({ input: points, output: lines, name: 'b' }, (point) => [String(point.x)])
svc.api({ input: points, output: lines, name: 'c' }, function* (point) {
  yield String(point.x)
})
svc.api({ input: lines, output: points, name: 'd' }, async (given) => {
  let x = 0
  for await (const line of given) x += line.length
  return new Point(x)
})
const received: io.Received<Lines> = (async function* () {})()
const returned: io.Returned<Lines> = ['a']

// Right: a subclass of a descriptor of ours.
class Shout extends io.Text {
  override async fromHttpRequest(request: HttpRequest): Promise<string> {
    const text = await super.fromHttpRequest(request)
    return text.toUpperCase()
  }
}
svc.api({ input: new Shout(), output: new Shout(), name: 'e' }, (text) => text.trim())

// Wrong: what the function returns or takes its input for.
// @ts-expect-error TS2322: a number is no Point
svc.api({ input: points, output: points, name: 'f' }, (point) => point.x)
// @ts-expect-error TS2322: what looks like a Point is none
svc.api({ input: points, output: points, name: 'g' }, (point) => ({ x: point.x }))
// @ts-expect-error TS2322: In is not Out
svc.api({ input: lines, output: lines, name: 'h' }, (given) => given)
// @ts-expect-error TS2339: the input is a Point
svc.api({ input: points, output: points, name: 'i' }, (point) => new Point(point.y))
// @ts-expect-error TS2345: the input is no number
svc.api({ input: points, output: points, name: 'j' }, (x: number) => new Point(x))

// Right: a message of its own, by the types that the package exports.
class Rows extends io.IODescriptor<number[]> {
  readonly mimeType = 'text/csv'
  override readonly protoField: ProtoField = 'ndarray'
  override readonly publicOptions = ['mimeType']

  fromHttpRequest(request: HttpRequest): number[] {
    return [...request.peek()]
  }
  toHttpResponse(rows: number[]): HttpResponse {
    const headers: HeaderLine[] = [['content-type', this.mimeType]]
    return { headers, body: rows.join() }
  }
  override fromProto(message: Uint8Array | NDArrayMessage): io.MaybePromise<number[]> {
    if (message instanceof Uint8Array) return super.fromProto(message)
    return Array.from(message.doubleValues ?? [])
  }
  override toProto(rows: number[]): NDArrayMessage {
    return { dtype: 1, shape: [rows.length], doubleValues: Float64Array.from(rows) }
  }
}
svc.api({ input: new Rows(), output: new Rows(), name: 'rows' }, (rows) => rows)

// Wrong: descriptors that do not do what the abstract class asks.
// @ts-expect-error TS2515: toHttpResponse is missing
class Half extends io.IODescriptor<string> {
  readonly mimeType = 'text/plain'
  fromHttpRequest(): string {
    return ''
  }
}
class Unlike extends io.IODescriptor<string> {
  readonly mimeType = 'text/plain'
  // @ts-expect-error TS2416: gives another type than it says
  fromHttpRequest(): number {
    return 1
  }
  // @ts-expect-error TS2416: takes another type than it says
  toHttpResponse(_value: number): HttpResponse {
    return { headers: [], body: '' }
  }
}
class Bare extends io.IODescriptor<string> {
  readonly mimeType = 'text/plain'
  fromHttpRequest(): string {
    return ''
  }
  // @ts-expect-error TS2416: a string is no response
  toHttpResponse(value: string): string {
    return value
  }
}
// @ts-expect-error TS2511: the abstract class makes no objects
new io.IODescriptor()

export { Bare, Half, received, returned, Unlike }
