/**
 * Pictures in Fastify: decoded by @napi-rs/image, or by sharp with BENCH_IMAGE=sharp.
 * @module
 */
import { createRequire } from 'node:module'
import { ResizeFilterType, ResizeFit, Transformer } from '@napi-rs/image'
import type { FastifyInstance } from 'fastify'
import { meanOf } from '../mean.ts'

interface SharpImage {
  resize(width: number, height: number, options: { fit: 'cover'; kernel: 'linear' }): SharpImage
  raw(): { toBuffer(): Promise<Buffer> }
}
type Sharp = (bytes: Buffer) => SharpImage

/** Returns where sharp is looked for: beside the project, or in the folder that BENCH_SHARP names. */
export function findSharp(): string | undefined {
  const { BENCH_SHARP } = process.env
  try {
    return createRequire(
      BENCH_SHARP === undefined ? import.meta.url : `${BENCH_SHARP}/package.json`,
    ).resolve('sharp')
  } catch {
    return undefined
  }
}

function decoder(): (bytes: Buffer) => Promise<Buffer> {
  if (process.env.BENCH_IMAGE !== 'sharp') return (bytes) => new Transformer(bytes).rawPixels()
  const sharp = createRequire(import.meta.url)(findSharp() ?? 'sharp') as Sharp
  return (bytes) => sharp(bytes).raw().toBuffer()
}

/** Returns a function that resizes a picture so that it covers 224×224, and cuts out the centre. */
function resizer(): (bytes: Buffer) => Promise<Buffer> {
  if (process.env.BENCH_IMAGE === 'sharp') {
    const sharp = createRequire(import.meta.url)(findSharp() ?? 'sharp') as Sharp
    return (bytes) =>
      sharp(bytes).resize(224, 224, { fit: 'cover', kernel: 'linear' }).raw().toBuffer()
  }
  const size = { width: 224, height: 224, filter: ResizeFilterType.Triangle, fit: ResizeFit.Cover }
  return (bytes) => new Transformer(bytes).resize(size).rawPixels()
}

const mean = [0.485, 0.456, 0.406]
const std = [0.229, 0.224, 0.225]

function normalized(pixels: Buffer): Float32Array {
  const plane = pixels.length / 3
  const tensor = new Float32Array(pixels.length)
  for (let c = 0; c < 3; c++) {
    for (let i = 0; i < plane; i++)
      tensor[c * plane + i] = (pixels[3 * i + c] / 255 - mean[c]) / std[c]
  }
  return tensor
}

/** Adds the jobs of pictures. */
export function addImageRoute(app: FastifyInstance): void {
  const decode = decoder()
  const resize = resizer()
  app.post<{ Body: Buffer }>('/mean', async (request) => meanOf(await decode(request.body)))
  app.post<{ Body: Buffer }>('/tensor', async (request) => {
    const tensor = normalized(await resize(request.body))
    const plane = tensor.length / 3
    return [0, 1, 2].map((c) => meanOf(tensor.subarray(c * plane, (c + 1) * plane)))
  })
}
