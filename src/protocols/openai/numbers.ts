/** Answers of numbers: vectors of texts, and how well documents fit. @module */

import { BadInput, BadOutput, expected } from '../../core/errors.ts'
import { isRecord } from '../../core/options.ts'
import { numberCodec } from '../../values/array/native-codec.ts'
import { NDArray } from '../../values/array/ndarray.ts'
import { type Body, check, checkMembers, countRule } from './body.ts'
import type { Embeddings, RerankRequest, Scores } from './method-types.ts'
import type { EmbeddingRequest } from './requests.ts'

/**
 * @returns the JSON text.
 * @throws BadOutput for other than one vector an input; BadInput for other `dimensions`.
 */
export function embeddingAnswer(
  result: Embeddings,
  { inputs, isBase64, dimensions }: EmbeddingRequest,
  model: string,
): string {
  const { embeddings, tokens = [] } =
    isRecord(result) && 'embeddings' in result ? result : { embeddings: result as never }
  const rows = rowsOf(embeddings)
  const length = rows[0]?.length ?? 0
  if (
    rows.length !== inputs.length ||
    rows.some((row) => row.length !== length || row.length === 0)
  ) {
    const lengths = rows.map((row) => row.length)
    throw new BadOutput(
      expected(`${inputs.length} vectors of one length`, 'the result of embed', lengths),
    )
  }
  if (dimensions !== undefined && dimensions !== length)
    throw new BadInput(expected(`${length}, the only length here,`, 'dimensions', dimensions), {
      path: 'dimensions',
    })
  const data = rows.map((row, index) => {
    return `{"object":"embedding","index":${index},"embedding":${isBase64 ? base64Of(row) : jsonOf(row)}}`
  })
  const count = tokens.reduce((sum, each) => sum + each, 0)
  const usage = `{"prompt_tokens":${count},"total_tokens":${count}}`
  return `{"object":"list","data":[${data.join(',')}],"model":${JSON.stringify(model)},"usage":${usage}}`
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

// As embeddings.
const maxDocuments = 2048

/** @throws BadInput with the member as `path`. */
export function readRerank(body: Body): RerankRequest {
  const { query, documents } = body
  checkMembers(body, { top_n: countRule })
  check(typeof query === 'string', 'a text', 'query', query)
  const isList =
    Array.isArray(documents) && documents.length > 0 && documents.length <= maxDocuments
  check(isList, `a list of 1 to ${maxDocuments} documents`, 'documents', documents)
  const texts = documents.map((document: unknown, i) => {
    const text = isRecord(document) ? document.text : document
    check(typeof text === 'string', 'a text or an object with text', `documents[${i}]`, document)
    return text
  })
  return Object.assign(body, { model: String(body.model), query, documents: texts })
}

/**
 * @returns the JSON text: the best documents first.
 * @throws BadOutput for other than a finite number for each document.
 */
export function rerankAnswer(result: Scores, request: RerankRequest, id: string): string {
  const { scores, tokens = 0 } =
    isRecord(result) && 'scores' in result ? result : { scores: result }
  const numbers = Array.from((scores instanceof NDArray ? scores.data : scores) as number[])
  const { documents, model, top_n: most, return_documents: returns } = request
  if (numbers.length !== documents.length || !numbers.every(Number.isFinite))
    throw new BadOutput(expected(`${documents.length} numbers`, 'the result of rerank', numbers))
  const results = numbers
    .map((score, index) => {
      const document = returns === true && { document: { text: documents[index] } }
      return { index, relevance_score: score, ...document }
    })
    .sort((a, b) => b.relevance_score - a.relevance_score)
    .slice(0, most as number | undefined)
  return JSON.stringify({ id: `rerank-${id}`, model, results, usage: { total_tokens: tokens } })
}
