/** Inputs of an API that its page and its OpenAPI document offer. @module */
import { InvalidArgument } from '../core/errors.ts'
import { checkOptions, checkThat } from '../core/options.ts'
import { isPromise, type MaybePromise } from '../core/promise.ts'
import type { IODescriptor } from '../descriptors/descriptor.ts'
import {
  type HeaderLine,
  HeaderList,
  HttpRequest,
  type HttpResponse,
  isChunk,
} from '../http/message.ts'

/** An input to try. */
export interface ApiExample<V = unknown> {
  readonly name: string
  /** As the function receives it; of pictures and files a path, a `file:` URL or bytes. */
  readonly input: V
}

/** An example as the body of a request. */
export interface EncodedExample {
  readonly name: string
  readonly headers: readonly HeaderLine[]
  readonly body: Uint8Array
  /** Rejects if the API does not take the input, where that cannot be told at once. */
  readonly checked: MaybePromise<unknown>
}

/**
 * Encodes the examples of an API, and reads each back.
 *
 * @throws InvalidArgument with the example's name.
 */
export function encodeExamples(
  given: unknown,
  input: IODescriptor,
  api: string,
): readonly EncodedExample[] {
  const place = `examples of API ${api}`
  checkThat(Array.isArray(given), 'a list of { name, input }', place, given)
  return given.map((example: ApiExample, i) => {
    const { name } = checkOptions(place, example, ['name', 'input'])
    const isOwn =
      typeof name === 'string' &&
      name !== '' &&
      given.findIndex((other) => other?.name === name) === i
    checkThat(isOwn, 'a name of its own', `each of the ${place}`, name)
    const refuse = (cause: unknown): never => {
      throw new InvalidArgument(
        `example ${JSON.stringify(name)} of API ${api}: ${(cause as Error).message}`,
        { cause },
      )
    }
    try {
      const { headers, body } = atOnce(input.encodeExample(example.input as never))
      const checked = input.fromHttpRequest(
        new HttpRequest(HeaderList.from(Object.fromEntries(headers)), body.slice()),
      )
      if (!isPromise(checked)) return { name, headers, body, checked: undefined }
      const outcome = Promise.resolve(checked).catch(refuse)
      // Awaited when the service starts; a service that does not start must not end the process.
      outcome.catch(() => {})
      return { name, headers, body, checked: outcome }
    } catch (cause) {
      return refuse(cause)
    }
  })
}

function atOnce(response: MaybePromise<HttpResponse>) {
  if (isPromise(response)) {
    Promise.resolve(response).catch(() => {})
    throw new InvalidArgument('expected a sample that is small enough to be encoded at once')
  }
  const { headers, body } = response
  if (!isChunk(body)) throw new InvalidArgument('expected a sample of bytes, received a stream')
  // Copied: the body may be a view of the example's own memory.
  return { headers, body: new Uint8Array(Buffer.from(body as string)) }
}
