/** Answers of numbers: vectors of texts, and how well documents fit. @module */

import { BadInput, BadOutput, expected } from '../../core/errors.ts'
import { isRecord } from '../../core/options.ts'
import { numberCodec } from '../../values/array/array-text.ts'
import { NDArray } from '../../values/array/ndarray.ts'
import { asked, check, checkMembers } from './body.ts'
import { type Models, methodOf } from './model.ts'
import { readPrompts } from './requests.ts'
import type { Route } from './route.ts'

// Of one request.
const maxInputs = 2048
const maxDocuments = 2048

/** @returns what answers with one vector an input. */
export function embeddingRoute(models: Models): Route {
  return async (body, { ctx }) => {
    const { model, call } = methodOf(models, body.model, 'embed')
    const inputs = readPrompts(body.input, 'input', maxInputs, model)
    checkMembers(body, asked.embedding)
    const { encoding_format: format, dimensions } = body
    const result = await call(inputs, ctx)
    const { embeddings, tokens = [] } =
      isRecord(result) && 'embeddings' in result ? result : { embeddings: result as never }
    const rows = rowsOf(embeddings)
    const lengths = rows.map((row) => row.length)
    const [length = 0] = lengths
    if (rows.length !== inputs.length || lengths.some((each) => each !== length || each === 0))
      throw new BadOutput(
        expected(`${inputs.length} vectors of one length`, 'the result of embed', lengths),
      )
    if (dimensions !== undefined && dimensions !== length)
      throw new BadInput(expected(`${length}, the only length here,`, 'dimensions', dimensions), {
        path: 'dimensions',
      })
    const write = format === 'base64' ? base64Of : jsonOf
    const data = rows.map((row, index) => {
      return `{"object":"embedding","index":${index},"embedding":${write(row)}}`
    })
    const count = tokens.reduce((sum, each) => sum + each, 0)
    const usage = `{"prompt_tokens":${count},"total_tokens":${count}}`
    return `{"object":"list","data":[${data.join(',')}],"model":${JSON.stringify(model.name)},"usage":${usage}}`
  }
}

function rowsOf(vectors: unknown): Float32Array[] {
  if (Array.isArray(vectors)) return vectors.map((row) => Float32Array.from(row as number[]))
  const isMatrix =
    vectors instanceof NDArray && vectors.shape.length === 2 && /^float(32|64)$/.test(vectors.dtype)
  if (!isMatrix)
    throw new BadOutput(expected('a float32 or float64 array of two dimensions', 'embed', vectors))
  const [count, length] = vectors.shape
  const data = Float32Array.from(vectors.data as Float32Array)
  return Array.from({ length: count }, (_, i) => data.subarray(i * length, (i + 1) * length))
}

function jsonOf(row: Float32Array): string {
  const json = numberCodec.encodeNdarray(new NDArray(row), 'error')
  if (json === undefined)
    throw new BadOutput('expected finite numbers for the result of embed, received NaN or Infinity')
  return typeof json === 'string' ? json : Buffer.from(json).toString()
}

/** **Units**: little-endian float32, as the servers that we run on have it. */
function base64Of({ buffer, byteOffset, byteLength }: Float32Array): string {
  return `"${Buffer.from(buffer, byteOffset, byteLength).toString('base64')}"`
}

/** @returns what answers with the best documents first. */
export function rankingRoute(models: Models): Route {
  return async (body, { ctx }) => {
    const { model, call } = methodOf(models, body.model, 'rerank')
    checkMembers(body, asked.ranking)
    const { query, documents: given, top_n: most, return_documents: returns } = body
    const isList = Array.isArray(given) && given.length > 0 && given.length <= maxDocuments
    check(isList, `a list of 1 to ${maxDocuments} documents`, 'documents', given)
    const documents = given.map((document: unknown, i) => {
      const text = isRecord(document) ? document.text : document
      check(typeof text === 'string', 'a text or an object with text', `documents[${i}]`, document)
      return text
    })
    const result = await call(
      { ...body, model: model.name, query: query as string, documents },
      ctx,
    )
    const { scores, tokens = 0 } =
      isRecord(result) && 'scores' in result ? result : { scores: result }
    const numbers = Array.from((scores instanceof NDArray ? scores.data : scores) as number[])
    if (numbers.length !== documents.length || !numbers.every(Number.isFinite))
      throw new BadOutput(expected(`${documents.length} numbers`, 'the result of rerank', numbers))
    const results = numbers
      .map((score, index) => {
        const document = returns === true && { document: { text: documents[index] } }
        return { index, relevance_score: score, ...document }
      })
      .sort((a, b) => b.relevance_score - a.relevance_score)
      .slice(0, most as number | undefined)
    const usage = { total_tokens: tokens }
    return JSON.stringify({ id: `rerank-${ctx.id}`, model: model.name, results, usage })
  }
}
