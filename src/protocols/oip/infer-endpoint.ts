/** `POST …/infer`. @module */
import { promisify } from 'node:util'
import { deflate, gzip } from 'node:zlib'
import type { Endpoint } from '../../api/endpoint.ts'
import type { Visit } from '../../api/visit.ts'
import { BadInput, expected } from '../../core/errors.ts'
import { isPromise, type MaybePromise, whenReady } from '../../core/promise.ts'
import type { Context } from '../../http/context.ts'
import { type HttpRequest, type HttpResponse, isChunk, parseLength } from '../../http/message.ts'
import { filled, sizeOf } from '../../values/array/shape.ts'
import { encodeAnswer, nonFiniteFor } from './infer-answer.ts'
import { type LastRequest, readInfer } from './infer-json.ts'
import { type InferRequest, lengthHeader, noParameters } from './infer-request.ts'
import { describeModel, infer } from './inference.ts'
import type { Failed, Model } from './model.ts'
import { inferHeaders, type OipServer, oipEndpoint } from './oip-endpoint.ts'
import { readRaw } from './tensor.ts'

// `deflate` is zlib's format (RFC 9110 section 8.4.1.2).
const encoders = { gzip: promisify(gzip), deflate: promisify(deflate) }

/** Answers inferences of every model, or of the one that the path names. */
export function inferEndpoint(path: string, server: OipServer, named?: Model): Endpoint {
  const { models } = server
  const last: LastRequest = {}
  const own: Partial<Endpoint> = {
    name: 'infer',
    readsHeaders: inferHeaders(named === undefined ? models.all() : [named]),
    // Tensors are views of the body.
    alignedAt: (headers) => parseLength(headers.get(lengthHeader)),
  }
  return oipEndpoint(server, `POST ${path}`, own, (request, visit) => {
    const {
      ctx,
      target: { params },
    } = visit
    const find = () => named ?? models.find(params.model, params.version)
    const model = find()
    const read = readRequest(model, request, ctx, last)
    if (!isPromise(read)) return answerTo(model, read, visit, true)
    // Looked up again: the version may have been replaced while the body was read.
    return read.then((ready) => answerTo(find(), ready, visit, false))
  })
}

function readRequest(
  model: Model,
  request: HttpRequest,
  ctx: Context,
  last: LastRequest,
): MaybePromise<InferRequest> {
  const length = ctx.headers.get(lengthHeader)
  // The body is one tensor's elements alone.
  if (parseLength(length) === 0) return rawRequest(model, request.body)
  return request.releaseAfter(readInfer(request, length, last))
}

function answerTo(
  model: Model,
  request: InferRequest,
  visit: Visit,
  isAtOnce: boolean,
): MaybePromise<HttpResponse | Failed> {
  const { id, parameters, isRaw = false } = request
  const isBinary = isRaw || parameters.binary_data_output === true
  const { ctx } = visit
  const encoding = encodingFrom(ctx.headers.get('accept-encoding'))
  const pending = infer(model, request, visit)
  const isSent = isAtOnce && encoding === undefined && !isPromise(pending)
  return whenReady(pending, (inference) => {
    if ('error' in inference) return inference
    const form = {
      allBinary: isBinary,
      isAtOnce: isSent,
      nonFinite: nonFiniteFor(ctx.headers.get('accept')),
    }
    return whenReady(encodeAnswer(model, id, inference.outputs, form), (answer) => {
      const own = ctx.ownResponse
      const response =
        own === undefined ? answer : { ...answer, headers: own.mergeEncoded(answer.headers) }
      if (encoding === undefined) return response
      return compressed(response, encoding)
    })
  })
}

function rawRequest(model: Model, body: Uint8Array): MaybePromise<InferRequest> {
  return whenReady(describeModel(model), ({ inputs }) => {
    const [info] = inputs
    if (inputs.length !== 1) {
      throw new BadInput(
        expected('a model of one input', 'a body without JSON', `one of ${inputs.length}`),
      )
    }
    const shape = filled(info.shape, 1)
    const size = sizeOf(shape)
    const elements = info.datatype === 'BYTES' && size === 1 ? withLength(body) : body
    const tensor = readRaw({ ...info, shape, size }, elements)
    return { id: '', parameters: noParameters, inputs: [tensor], outputs: undefined, isRaw: true }
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
  if (name === 'gzip' || name === 'deflate') return name
  return undefined
}

function compressed(
  response: HttpResponse,
  name: keyof typeof encoders,
): MaybePromise<HttpResponse> {
  const { body, headers, pooled, ...rest } = response
  if (!isChunk(body) || body.length === 0) return response
  return encoders[name](body).then((bytes) => {
    pooled?.give(body)
    return {
      ...rest,
      headers: [...headers, ['content-encoding', name], ['vary', 'accept-encoding']],
      body: bytes,
    }
  })
}
