/** `POST …/infer`. @module */
import { promisify } from 'node:util'
import { deflate, gzip } from 'node:zlib'
import { BadInput, expected } from '../core/errors.ts'
import { isPromise, type MaybePromise, whenReady } from '../core/promise.ts'
import type { Context } from '../http/context.ts'
import type { Endpoint, RequestTarget } from '../http/endpoint.ts'
import { type HeaderNames, joinHeaderNames } from '../http/header-names.ts'
import type { HttpRequest, HttpResponse, RequestHeaders } from '../http/message.ts'
import { encodeAnswer } from './infer-answer.ts'
import { isLength, isRawBody, lengthHeader, readInfer, readRawBody } from './infer-json.ts'
import { type InferRequest, noParameters } from './infer-request.ts'
import { attempt, describeModel, infer } from './inference.ts'
import type { Model } from './model.ts'
import type { Models } from './models.ts'
import { errorResponse } from './oip-error.ts'

// `deflate` is zlib's format (RFC 9110 section 8.4.1.2).
const encoders = { gzip: promisify(gzip), deflate: promisify(deflate) }

/** Request headers that the protocol reads. */
export const ownHeaders = ['x-request-id', 'content-encoding', 'accept-encoding', lengthHeader]

/** Returns the headers that the functions of any model read, too. */
export function headersOf(models: Models): HeaderNames {
  return joinHeaderNames(ownHeaders, ...[...models.all()].map(({ readsHeaders }) => readsHeaders))
}

/** Answers inferences of every model. */
export class InferEndpoint implements Endpoint {
  readonly name = 'infer'
  readonly path: string
  readonly methods = ['POST']
  readonly readsHeaders: readonly string[] | 'all'
  readonly isLimited = true
  readonly decompresses = true
  readonly problem = errorResponse
  readonly #models: Models

  constructor(path: string, models: Models) {
    this.path = path
    this.#models = models
    this.readsHeaders = headersOf(models)
  }

  /** Tensors are views of the body. */
  alignedAt(headers: RequestHeaders): number | undefined {
    const length = headers.get(lengthHeader)
    return length === undefined || !isLength(length) ? undefined : Number(length)
  }

  answer(request: HttpRequest, ctx: Context, { params }: RequestTarget): MaybePromise<HttpResponse> {
    const answer = attempt(() => {
      const model = this.#models.find(params.model, params.version)
      const read = this.#read(model, request, ctx)
      if (!isPromise(read)) return this.#infer(model, read, ctx, true)
      // Looked up again: the version may have been replaced while the body was read.
      return read.then((ready) => this.#infer(this.#models.find(params.model, params.version), ready, ctx, false))
    })
    return whenReady(answer, (response) => ('body' in response ? response : this.problem(response.error, ctx.id)))
  }

  #read(model: Model, request: HttpRequest, ctx: Context): MaybePromise<ReadRequest> {
    const length = ctx.headers.get(lengthHeader)
    const release = () => request.release()
    if (isRawBody(length)) {
      const body = request.body
      return whenReady(rawRequest(model, body), (inferRequest) => ({ inferRequest, isRaw: true }))
    }
    let read: MaybePromise<InferRequest>
    try {
      read = readInfer(request, length)
    } catch (error) {
      release()
      throw error
    }
    if (isPromise(read)) return read.finally(release).then((inferRequest) => ({ inferRequest, isRaw: false }))
    release()
    return { inferRequest: read, isRaw: false }
  }

  #infer(
    model: Model,
    { inferRequest, isRaw }: ReadRequest,
    ctx: Context,
    isAtOnce: boolean,
  ): MaybePromise<HttpResponse> {
    const { id, parameters } = inferRequest
    const isBinary = isRaw || parameters.binary_data_output === true
    const accept = ctx.headers.get('accept-encoding')
    const pending = infer(model, inferRequest, ctx)
    const staysPlain = encodingFrom(accept) === undefined
    const isSent = isAtOnce && staysPlain && !isPromise(pending)
    return whenReady(pending, (inference): MaybePromise<HttpResponse> => {
      if ('error' in inference) return this.problem(inference.error, ctx.id)
      return whenReady(encodeAnswer(model, id, inference.outputs, isBinary, isSent), (answer) => {
        const own = ctx.ownResponse
        const response = own === undefined ? answer : { ...answer, headers: own.mergeEncoded(answer.headers) }
        return compressed(response, accept)
      })
    })
  }
}

interface ReadRequest {
  readonly inferRequest: InferRequest
  readonly isRaw: boolean
}

function rawRequest(model: Model, body: Uint8Array): MaybePromise<InferRequest> {
  return whenReady(describeModel(model), ({ inputs }) => {
    const [info] = inputs
    if (inputs.length !== 1) {
      throw new BadInput(expected('a model of one input', 'a body without JSON', `one of ${inputs.length}`))
    }
    const { name, datatype } = info
    const shape = info.shape.map((dim) => (dim === -1 ? 1 : dim))
    const size = shape.reduce((product, dim) => product * dim, 1)
    const elements = datatype === 'BYTES' && size === 1 ? withLength(body) : body
    const tensor = readRawBody({ name, datatype, shape, size }, elements)
    return { id: '', parameters: noParameters, inputs: [tensor], outputs: undefined }
  })
}

function withLength(body: Uint8Array): Uint8Array {
  const bytes = Buffer.allocUnsafe(4 + body.length)
  bytes.writeUInt32LE(body.length)
  bytes.set(body, 4)
  return bytes
}

/** A list is ignored: aiohttp and httpx send all that they know, and compressing costs more than sending. */
function encodingFrom(accept: string | undefined): keyof typeof encoders | undefined {
  const name = accept?.trim().toLowerCase()
  return name === 'gzip' || name === 'deflate' ? name : undefined
}

function compressed(response: HttpResponse, accept: string | undefined): MaybePromise<HttpResponse> {
  const name = encodingFrom(accept)
  if (name === undefined) return response
  const { body, headers, pooled, ...rest } = response
  const isWhole = typeof body === 'string' || body instanceof Uint8Array
  if (!isWhole || body.length === 0) return response
  return encoders[name](body).then((bytes) => {
    pooled?.give(body as Uint8Array)
    return { ...rest, headers: [...headers, ['content-encoding', name], ['vary', 'accept-encoding']], body: bytes }
  })
}
