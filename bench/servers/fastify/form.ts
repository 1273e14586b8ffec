/**
 * Forms in Fastify, by @fastify/multipart.
 * @module
 */
import multipart from '@fastify/multipart'
import type { FastifyInstance } from 'fastify'

/** Adds the job of forms. */
export async function addFormRoute(app: FastifyInstance): Promise<void> {
  await app.register(multipart)
  app.post('/form', async (request) => {
    let numbers: number[] = []
    let x: number | undefined
    let size = 0
    for await (const part of request.parts()) {
      if (part.type === 'file') size = (await part.toBuffer()).length
      // A field of type application/json comes parsed.
      else if (part.fieldname === 'arr') numbers = parsed(part.value) as number[]
      else if (part.fieldname === 'meta') x = (parsed(part.value) as { x: number }).x
    }
    return { sum: Float64Array.from(numbers).reduce((total, value) => total + value, 0), x, size }
  })
}

function parsed(value: unknown): unknown {
  return typeof value === 'string' ? JSON.parse(value) : value
}
