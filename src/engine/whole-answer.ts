/** The answer to a whole request, and an answer as a whole: what HTTP, `svc.inject` and jobs share. @module */

import type { Endpoint } from '../api/endpoint.ts'
import { decodeFailureOf } from '../api/stages.ts'
import { type MaybePromise, whenReady } from '../core/promise.ts'
import { codingsOf } from '../http/content-encoding.ts'
import { decompress } from '../http/decompress.ts'
import { exactly } from '../http/encoded-pieces.ts'
import { tooMany } from '../http/limits.ts'
import {
  type Chunk,
  type HeaderLine,
  type HttpRequest,
  type HttpResponse,
  isAsyncBody,
  isChunk,
  isFramingHeader,
  lengthOf,
  requireChunk,
} from '../http/message.ts'
import type { ServedVisit } from './served-visit.ts'

/**
 * Answers a request that has its body, in a slot of the server. Takes the bytes of the request,
 * which end with its answer. Never throws, never rejects.
 */
export function answerWhole(
  visit: ServedVisit,
  endpoint: Endpoint,
  request: HttpRequest,
): MaybePromise<HttpResponse> {
  const full = visit.takeSlot()
  const coding = codingOf(endpoint, visit)
  let answer: MaybePromise<HttpResponse>
  if (full !== undefined) answer = endpoint.problem(tooMany(full), visit.ctx.id)
  else if (coding === undefined) answer = endpoint.answer(request, visit)
  else answer = answerUnpacked(visit, endpoint, request, coding)
  return request.releaseAfter(answer)
}

async function answerUnpacked(
  visit: ServedVisit,
  endpoint: Endpoint,
  request: HttpRequest,
  coding: string,
): Promise<HttpResponse> {
  try {
    const plain = await decompress(request, coding, visit.server.limits, visit)
    return await plain.releaseAfter(endpoint.answer(plain, visit))
  } catch (error) {
    return endpoint.problem(decodeFailureOf(error), visit.ctx.id)
  }
}

/** @returns the Content-Encoding of a body that has to be decompressed; undefined for others. */
export function codingOf(endpoint: Endpoint, { ctx }: ServedVisit): string | undefined {
  if (!endpoint.decompresses) return undefined
  const header = ctx.headers.get('content-encoding')
  return header === undefined ? undefined : codingsOf(header)
}

/** @returns the lines of an answer that are sent, but those of framing. */
export function linesOf({ headers }: HttpResponse, { ctx }: ServedVisit): HeaderLine[] {
  const lines = headers
    .filter(([name]) => !isFramingHeader(name))
    .map(([name, value]) => [name.toLowerCase(), value] as const)
  const { clientId } = ctx
  const isTold = clientId === undefined || lines.some(([name]) => name === 'x-request-id')
  return isTold ? lines : [...lines, ['x-request-id', clientId]]
}

/**
 * Collects the body of an answer, and gives its memory back.
 *
 * @param take - Called with each chunk before it is kept, and whether it is of a stream; false ends the stream.
 * @throws BadOutput; what a stream or `take` throws.
 */
export function collectAnswer(
  { before = '', headers, body, pooled }: HttpResponse,
  take: (chunk: Chunk, isStreamed: boolean) => MaybePromise<boolean>,
): MaybePromise<Buffer> {
  const copied = (chunk: Chunk) => {
    const bytes = Buffer.from(chunk as Uint8Array)
    pooled?.give(chunk)
    return bytes
  }
  if (isChunk(body)) {
    const isTaken = whenReady(before === '' || take(before, false), () => take(body, false))
    return whenReady(isTaken, () => {
      const bytes = copied(body)
      return before === '' ? bytes : Buffer.concat([Buffer.from(before), bytes])
    })
  }
  const collectAll = async () => {
    const pieces: Buffer[] = []
    const isStreamed = isAsyncBody(body)
    for await (const chunk of isStreamed ? exactly(body, lengthOf(headers)) : body) {
      const goesOn = await take(requireChunk(chunk), isStreamed)
      pieces.push(copied(chunk))
      if (!goesOn) break
    }
    return Buffer.concat(pieces)
  }
  return collectAll()
}
