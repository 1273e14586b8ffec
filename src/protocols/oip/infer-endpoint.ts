/** `POST …/infer`. @module */
import { promisify } from 'node:util'
import { deflate, gzip } from 'node:zlib'
import type { Endpoint } from '../../api/endpoint.ts'
import type { Visit } from '../../api/visit.ts'
import { isPromise, type MaybePromise, whenReady } from '../../core/promise.ts'
import { type HttpResponse, isChunk, parseLength } from '../../http/message.ts'
import { encodeAnswer, nonFiniteFor } from './infer-answer.ts'
import { type LastRequest, readInfer } from './infer-json.ts'
import { type InferRequest, lengthHeader } from './infer-request.ts'
import { infer } from './inference.ts'
import type { Model } from './model.ts'
import { inferHeaders, type OipServer, oipEndpoint } from './oip-endpoint.ts'

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
    const read = request.releaseAfter(readInfer(request, ctx.headers.get(lengthHeader), last))
    if (!isPromise(read)) return answerTo(model, read, visit, true)
    // Looked up again: the version may have been replaced while the body was read.
    return read.then((ready) => answerTo(find(), ready, visit, false))
  })
}

function answerTo(
  model: Model,
  request: InferRequest,
  visit: Visit,
  isAtOnce: boolean,
): MaybePromise<HttpResponse> {
  const { id, parameters } = request
  const { ctx } = visit
  const encoding = encodingFrom(ctx.headers.get('accept-encoding'))
  const pending = infer(model, request, visit)
  const isSent = isAtOnce && encoding === undefined && !isPromise(pending)
  return whenReady(pending, (outputs) => {
    const form = {
      allBinary: parameters.binary_data_output === true,
      isAtOnce: isSent,
      nonFinite: nonFiniteFor(ctx.headers.get('accept')),
    }
    return whenReady(encodeAnswer(model, id, outputs, form), (answer) => {
      const own = ctx.ownResponse
      const response =
        own === undefined ? answer : { ...answer, headers: own.mergeEncoded(answer.headers) }
      if (encoding === undefined) return response
      return compressed(response, encoding)
    })
  })
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
