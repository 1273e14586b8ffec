/**
 * Pictures in Fastify: decoded by @napi-rs/image, or by sharp with BENCH_IMAGE=sharp.
 * @module
 */
import { createRequire } from 'node:module'
import { Transformer } from '@napi-rs/image'
import type { FastifyInstance } from 'fastify'
import { meanOf } from '../mean.ts'

type Sharp = (bytes: Buffer) => { raw(): { toBuffer(): Promise<Buffer> } }

/** Where sharp is looked for: beside the project, or in the folder that BENCH_SHARP names. */
export function findSharp(): string | undefined {
  const { BENCH_SHARP } = process.env
  try {
    return createRequire(BENCH_SHARP === undefined ? import.meta.url : `${BENCH_SHARP}/package.json`).resolve('sharp')
  } catch {
    return undefined
  }
}

function decoder(): (bytes: Buffer) => Promise<Buffer> {
  if (process.env.BENCH_IMAGE !== 'sharp') return (bytes) => new Transformer(bytes).rawPixels()
  const sharp = createRequire(import.meta.url)(findSharp() ?? 'sharp') as Sharp
  return (bytes) => sharp(bytes).raw().toBuffer()
}

/** Adds the job of pictures. */
export function addImageRoute(app: FastifyInstance): void {
  const decode = decoder()
  app.post<{ Body: Buffer }>('/mean', async (request) => meanOf(await decode(request.body)))
}
