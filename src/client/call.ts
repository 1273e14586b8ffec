import { jsonLines, parseEvents, parseLines, textPieces } from './lines.ts'
import { type Limit, networkError } from './transport.ts'
import type { EventValue } from './values.ts'

/** The result of a call with what the server said beside it. */
export interface CallResponse<T> {
  readonly value: T
  readonly status: number
  readonly headers: Headers
  readonly requestId: string | undefined
}

/**
 * A call under way. It starts at once; awaiting it gives its result.
 *
 * @throws ServingError.
 */
export class Call<T> implements Promise<T> {
  readonly [Symbol.toStringTag] = 'Call'
  readonly #response: Promise<Response>
  readonly #decode: (response: Response) => Promise<T>
  readonly #limit: Limit
  #value: Promise<T> | undefined

  /** @internal */
  constructor(
    response: Promise<Response>,
    decode: (response: Response) => Promise<T>,
    limit: Limit,
  ) {
    this.#response = response
    this.#decode = decode
    this.#limit = limit
    // A call that nobody awaits must not end the process.
    response.catch(() => limit.release())
  }

  // biome-ignore lint/suspicious/noThenProperty: a call is a promise
  then<A = T, B = never>(
    resolved?: ((value: T) => A | PromiseLike<A>) | null,
    rejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#result().then(resolved, rejected)
  }

  catch<B = never>(rejected?: ((reason: unknown) => B | PromiseLike<B>) | null): Promise<T | B> {
    return this.#result().catch(rejected)
  }

  finally(done?: (() => void) | null): Promise<T> {
    return this.#result().finally(done)
  }

  /** @returns the result with status, headers and request id. */
  async withResponse(): Promise<CallResponse<T>> {
    const value = await this.#result()
    const { status, headers } = await this.#response
    return { value, status, headers, requestId: headers.get('x-request-id') ?? undefined }
  }

  /** @returns the response itself, for its body as a stream; the call has no result then. */
  async response(): Promise<Response> {
    const response = await this.#response
    this.#limit.started()
    return response
  }

  protected release(): void {
    this.#limit.release()
  }

  #result(): Promise<T> {
    this.#value ??= this.#read()
    return this.#value
  }

  async #read(): Promise<T> {
    try {
      return await this.#decode(await this.#response)
    } catch (error) {
      this.#limit.signal.throwIfAborted()
      throw networkError(error)
    } finally {
      this.#limit.release()
    }
  }
}

/** A call whose result are the values of a generator: awaited, a list of all; iterated, each as it comes. */
export interface ValuesCall<T> extends Call<T[]>, AsyncIterable<T> {}

/** A call whose result is text: awaited, all of it; iterated, its pieces as they come. */
export class TextCall extends Call<string> implements AsyncIterable<string> {
  async *[Symbol.asyncIterator](): AsyncGenerator<string, void, undefined> {
    const { body, headers } = await this.response()
    const pieces = this.#piecesOf(body)
    if (headers.get('content-type') === jsonLines)
      yield* parseLines(pieces) as AsyncGenerator<never>
    else yield* pieces
  }

  async *#piecesOf(body: Response['body']): AsyncGenerator<string, void, undefined> {
    try {
      yield* textPieces(body)
    } catch (error) {
      throw networkError(error)
    } finally {
      this.release()
    }
  }

  /** @returns the server-sent events of the answer as they come. */
  events(): AsyncGenerator<EventValue, void, undefined> {
    return parseEvents(this)
  }
}
