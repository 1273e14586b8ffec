import { BadOutput, expected } from '../../core/errors.ts'
import { isRecord } from '../../core/options.ts'
import { NDArray } from '../../values/array/ndarray.ts'
import { type Body, check, checkWhole } from './body.ts'
import type { RerankRequest, Scores } from './method-types.ts'

// As embeddings.
const maxDocuments = 2048

/** @throws BadInput with the member as `path`. */
export function readRerank(body: Body): RerankRequest {
  const { query, documents, top_n: count } = body
  check(typeof query === 'string', 'a text', 'query', query)
  const isList =
    Array.isArray(documents) && documents.length > 0 && documents.length <= maxDocuments
  check(isList, `a list of 1 to ${maxDocuments} documents`, 'documents', documents)
  if (count !== undefined) checkWhole(count, 'top_n', 1)
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
  const { documents, model, top_n: count, return_documents: returns } = request
  if (numbers.length !== documents.length || !numbers.every(Number.isFinite))
    throw new BadOutput(expected(`${documents.length} numbers`, 'the result of rerank', numbers))
  const results = numbers
    .map((score, index) => {
      const document = returns === true && { document: { text: documents[index] } }
      return { index, relevance_score: score, ...document }
    })
    .sort((a, b) => b.relevance_score - a.relevance_score)
    .slice(0, count as number | undefined)
  return JSON.stringify({ id: `rerank-${id}`, model, results, usage: { total_tokens: tokens } })
}
