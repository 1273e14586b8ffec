import assert from 'node:assert/strict'
import { isDeepStrictEqual } from 'node:util'
import { ServingError } from '../core/errors.ts'
import { BufferPool } from '../core/memory/buffer-pool.ts'
import { isPromise } from '../core/promise.ts'
import type { IODescriptor } from '../descriptors/descriptor.ts'
import { Multipart } from '../descriptors/multipart.ts'
import { contentOf, fromContent } from '../descriptors/proto-content.ts'
import { Text } from '../descriptors/text.ts'
import {
  collectBody,
  HeaderList,
  HttpRequest,
  isHeaderName,
  isHeaderValue,
} from '../http/message.ts'
import { decodeRequest, encodeMessage, encodeRequest } from '../messages/envelope.ts'
import type { ProtoField } from '../messages/messages.ts'
import { mutations, randomBytes } from './mutate.ts'
import { asPart, type Deliver, receiveInPieces, type Wire } from './pieces.ts'
import { postInTwoPieces } from './socket.ts'
import type { DescriptorSpec, Refusal, Sample } from './spec.ts'

// The laws hold for values of any type.
type AnySpec = DescriptorSpec<unknown>
type AnySample = Sample<unknown, unknown>
type Law = (descriptor: IODescriptor, sample: AnySample) => Promise<void>

/** How a request comes to a descriptor. */
export interface Way {
  readonly deliver: Deliver
  /** Sends a body in two pieces, for every place to split it. */
  readonly deliverSplit: Deliver
}

/** @returns the laws of one descriptor: each a sentence and its check. */
export function laws<In, Out>(spec: DescriptorSpec<In, Out>) {
  const { each, subject, checks } = lawsBy(spec as AnySpec, {
    deliver,
    deliverSplit: postInTwoPieces,
  })
  Object.assign(checks, {
    'a value shares no memory with the request it came from': each(subject.noAliasing),
    'a body received in pieces gives the same as the whole one': each(subject.inPieces),
    'inside a Multipart it behaves as alone': each(subject.insideMultipart),
    'over RPC it gives the value that it gives over HTTP': each(subject.overRpc),
    'any RPC message gives a value or an error that blames the client': each(assertProtoTotal),
  })
  return listOf(checks)
}

/** @returns the laws that a way of requests can break. */
export function lawsOfWay<In, Out>(spec: DescriptorSpec<In, Out>, way: Way) {
  return listOf(lawsBy(spec as AnySpec, way).checks)
}

type Checks = Record<string, () => Promise<void>>

function listOf(checks: Checks) {
  return Object.entries(checks).map(([name, check]) => ({ name, check }))
}

function lawsBy(spec: AnySpec, way: Way) {
  assert(spec.samples.length > 0, 'a descriptor needs at least one sample')
  const subject = new Subject(spec, way)
  /** One descriptor takes all samples, so that what it keeps of one shows at the next. */
  const each =
    (law: Law, samples = spec.samples) =>
    async () => {
      const descriptor = spec.create()
      for (const sample of samples) await law(descriptor, sample)
    }
  const twice = [...spec.samples, ...spec.samples.toReversed()]
  const checks: Checks = {
    'what it writes is well formed and reads back as the same value': each(subject.roundTrip),
    'any bytes under any headers give a value or an error that blames the client': each(
      subject.totality,
    ),
    'a request leaves nothing behind for the next one': each(subject.noState, twice),
    'a body split anywhere on a real socket gives the same answer': each(subject.splitBodies),
    'it reads the examples of its description': () => subject.examples(),
    ...(spec.fromSample && {
      'fromSample makes a descriptor that accepts the sample': each(subject.fromSample),
    }),
  }
  for (const refusal of spec.refusals ?? [])
    checks[`it refuses ${refusal.title}`] = () => subject.refuses(refusal)
  return { each, subject, checks }
}

class Subject {
  readonly #spec: AnySpec
  readonly #way: Way

  constructor(spec: AnySpec, way: Way) {
    this.#spec = spec
    this.#way = way
  }

  readonly roundTrip: Law = async (descriptor, sample) => {
    const written = await writtenBy(descriptor, sample.value)
    await this.#way.deliver(descriptor, written, this.#lookFor(sample, 'what the descriptor wrote'))
    if (sample.request === undefined) return
    await this.#way.deliver(
      descriptor,
      await this.#wireOf(sample),
      this.#lookFor(sample, "the sample's request"),
    )
  }

  readonly totality: Law = async (descriptor, sample) => {
    const wire = await this.#wireOf(sample)
    const { 'content-type': own, ...others } = wire.headers
    const types = [
      own,
      undefined,
      'text/plain; charset=utf-8',
      'application/octet-stream',
      ';;',
      'multipart/form-data',
    ]
    for (const body of [...mutations(wire.body), ...randomBytes()]) {
      for (const type of types) {
        const headers = type === undefined ? others : { ...others, 'content-type': type }
        await this.#assertTotal(descriptor, { headers, body })
      }
    }
  }

  async examples(): Promise<void> {
    const descriptor = this.#spec.create()
    const { input, output } = descriptor.describe()
    assert(
      input.length > 0 && output.length > 0,
      'a description needs at least one format each way',
    )
    for (const { mimeType, example } of input) {
      if (example === undefined) continue
      const isText = typeof example === 'string' && !mimeType.endsWith('json')
      const body = Buffer.from(isText ? example : JSON.stringify(example))
      await this.#way.deliver(descriptor, { headers: { 'content-type': mimeType }, body }, () => {})
    }
  }

  readonly noAliasing: Law = async (descriptor, sample) => {
    const wire = await this.#wireOf(sample)
    const bytes = Uint8Array.from(wire.body)
    const request = HttpRequest.lend(HeaderList.from(wire.headers), bytes, true)
    const pending = descriptor.fromHttpRequest(request)
    if (isPromise(pending)) request.retain()
    // What the server does: the socket's buffer is overwritten and then taken away.
    bytes.fill(0x58)
    structuredClone(bytes.buffer, { transfer: [bytes.buffer] })
    this.#assertReceived(await pending, sample, 'a request whose buffer is gone')
    await this.#noAliasingOfPool(descriptor, sample, wire)
  }

  /** Checks the same for a large body, which lies in a buffer that the next request writes to. */
  async #noAliasingOfPool(descriptor: IODescriptor, sample: AnySample, wire: Wire): Promise<void> {
    const pool = new BufferPool()
    // So large that the body is not the buffer's owner: then the buffer would be the value's own.
    const slab = new Uint8Array(pool.take(2 * wire.body.length + 1))
    slab.set(wire.body)
    const request = HttpRequest.lend(
      HeaderList.from(wire.headers),
      slab.subarray(0, wire.body.length),
      pool,
    )
    const pending = descriptor.fromHttpRequest(request)
    if (isPromise(pending)) request.retain()
    const value = await pending
    request.release()
    slab.fill(0x58)
    this.#assertReceived(value, sample, 'a request whose buffer is used again')
  }

  readonly noState: Law = async (descriptor, sample) => {
    await this.#assertTotal(descriptor, { headers: {}, body: Uint8Array.of(0xff, 0x7b, 0x5b) })
    const wire = await this.#wireOf(sample)
    const look = this.#lookFor(sample, 'one of two requests at once')
    await Promise.all([
      this.#way.deliver(descriptor, wire, look),
      this.#way.deliver(descriptor, wire, look),
    ])
  }

  readonly splitBodies: Law = async (descriptor, sample) => {
    const look = this.#lookFor(sample, 'a body that came in two pieces')
    await this.#way.deliverSplit(descriptor, await this.#wireOf(sample), look)
  }

  readonly inPieces: Law = async (descriptor, sample) => {
    if (descriptor.receive === undefined) return
    const wire = await this.#wireOf(sample)
    for (const pieceBytes of [1, 7, 64 * 1024]) {
      const look = this.#lookFor(sample, `a body in pieces of ${pieceBytes}`)
      await receiveInPieces(descriptor, wire, pieceBytes, look)
    }
    for (const body of mutations(wire.body, 30)) {
      const broken = { headers: wire.headers, body }
      const whole = await statusOf(decode(descriptor, broken))
      const pieces = await statusOf(receiveInPieces(descriptor, broken, 5, () => {}))
      const message = `body ${base64(body)} (base64) in pieces gave status ${pieces}, as a whole ${whole}`
      assert.equal(pieces, whole, message)
    }
  }

  readonly insideMultipart: Law = async (descriptor, sample) => {
    if (descriptor instanceof Multipart) return
    const form = new Multipart({ other: new Text(), part: descriptor })
    const read = async (wire: Wire, source: string) => {
      this.#assertReceived((await decode(form, wire)).part, sample, source)
      const look = ({ part }: { part: unknown }) =>
        this.#assertReceived(part, sample, `${source}, in pieces`)
      await receiveInPieces(form, wire, 100, look)
    }
    await read(await writtenBy(form, { other: '', part: sample.value }), 'a form that it wrote')
    await read(asPart('part', await this.#wireOf(sample), 'other'), 'its request as a part')
  }

  readonly overRpc: Law = async (descriptor, sample) => {
    const expected =
      sample.receivedOverRpc === undefined
        ? sample
        : { ...sample, received: sample.receivedOverRpc }
    this.#assertReceived(await throughProto(descriptor, sample.value), expected, 'its message')
    if (descriptor instanceof Multipart) return
    const form = new Multipart({ part: descriptor })
    const { part } = await throughProto(form, { part: sample.value })
    this.#assertReceived(part, expected, 'its message as a part')
  }

  readonly fromSample: Law = async (_, sample) => {
    const descriptor = await this.#spec.fromSample?.(sample.value)
    assert(descriptor !== undefined, 'fromSample makes a descriptor')
    const written = await writtenBy(descriptor, sample.value)
    await this.#way.deliver(descriptor, written, this.#lookFor(sample, 'its own sample'))
  }

  async refuses(refusal: Refusal): Promise<void> {
    const { samples, create } = this.#spec
    const headers = refusal.headers ?? (await this.#wireOf(samples[0])).headers
    const wire = { headers, body: Buffer.from(refusal.body) }
    const error = await this.#way
      .deliver(create(), wire, () => {})
      .then(
        () => assert.fail(`expected a refusal of ${refusal.title}, it was accepted`),
        (error: unknown) => error,
      )
    assert(ServingError.is(error), `expected a ServingError, received ${String(error)}`)
    assert.equal(error.status, refusal.status ?? 400, error.message)
    if (refusal.reason !== undefined) assert.equal(error.reason, refusal.reason, error.message)
  }

  #assertTotal(descriptor: IODescriptor, wire: Wire): Promise<void> {
    const source = `body ${base64(wire.body)} (base64) under ${JSON.stringify(wire.headers)}`
    return assertBlamesClient(
      this.#way.deliver(descriptor, wire, () => {}),
      source,
    )
  }

  async #wireOf({ request, value }: AnySample): Promise<Wire> {
    if (request === undefined) return writtenBy(this.#spec.create(), value)
    return { headers: request.headers ?? {}, body: Buffer.from(request.body) }
  }

  #lookFor(sample: AnySample, source: string): (value: unknown) => void {
    return (value) => this.#assertReceived(value, sample, source)
  }

  #assertReceived(actual: unknown, sample: AnySample, source: string): void {
    const expected = 'received' in sample ? sample.received : sample.value
    const equal = this.#spec.equal ?? isDeepStrictEqual
    if (equal(actual, expected)) return
    assert.deepStrictEqual(actual, expected, `${source} gave another value`)
    assert.fail(`${source} gave another value`)
  }
}

/** @returns what a descriptor writes, which must be well formed. */
async function writtenBy(descriptor: IODescriptor, value: unknown): Promise<Wire> {
  const response = await descriptor.toHttpResponse(value)
  for (const [name, value] of response.headers) {
    assert(isHeaderName(name) && name === name.toLowerCase(), `header name ${JSON.stringify(name)}`)
    assert(isHeaderValue(value), `value of header ${name}: ${JSON.stringify(value)}`)
  }
  const headers = Object.fromEntries(response.headers)
  assert('content-type' in headers, 'a response needs a content-type')
  return { headers, body: await collectBody(response.body) }
}

const deliver: Deliver = async (descriptor, wire, look) => look(await decode(descriptor, wire))

async function decode<In>(descriptor: IODescriptor<In, never>, wire: Wire): Promise<In> {
  return descriptor.fromHttpRequest(new HttpRequest(HeaderList.from(wire.headers), wire.body))
}

async function assertBlamesClient(outcome: Promise<unknown>, source: string): Promise<void> {
  try {
    await outcome
  } catch (error) {
    if (ServingError.is(error) && error.status < 500) return
    assert.fail(`${source} gave ${String((error as Error)?.stack ?? error)}`)
  }
}

async function statusOf(outcome: Promise<unknown>): Promise<number> {
  try {
    await outcome
    return 200
  } catch (error) {
    if (ServingError.is(error)) return error.status
    throw error
  }
}

function base64(body: Uint8Array): string {
  return Buffer.from(body.subarray(0, 300)).toString('base64')
}

async function throughProto<In, Out>(descriptor: IODescriptor<In, Out>, value: Out): Promise<In> {
  const content = contentOf(descriptor, await descriptor.toProto(value))
  const request = decodeRequest(encodeRequest('api', content))
  assert(request.content !== undefined, 'a request needs a content')
  return (await fromContent(descriptor, request.content)) as In
}

const assertProtoTotal: Law = async (descriptor, { value }) => {
  const content = contentOf(descriptor, await descriptor.toProto(value))
  const fields: ProtoField[] = [content.field, descriptor.protoField, 'serialized_bytes']
  for (const bytes of [...mutations(encodeMessage(content)), ...randomBytes()]) {
    for (const field of fields) await assertContentTotal(descriptor, field, Uint8Array.from(bytes))
  }
  for (const field of ['json', 'text', 'multipart'] as const) {
    if (field !== descriptor.protoField)
      await assertContentTotal(descriptor, field, new Uint8Array(0))
  }
}

function assertContentTotal(
  descriptor: IODescriptor,
  field: ProtoField,
  bytes: Uint8Array,
): Promise<void> {
  const outcome = (async () => fromContent(descriptor, { field, bytes, room: 0 }))()
  return assertBlamesClient(outcome, `${field} of ${base64(bytes)} (base64)`)
}
