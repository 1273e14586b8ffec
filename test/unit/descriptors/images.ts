/** Reads and writes pictures by Image. @module */
import { type BadInput, type Context, io, type NDArray, type RasterImage } from 'serving'
import { expect } from 'vitest'
import type { ImageOptions } from '../../../src/descriptors/image.ts'
import { requestOf } from './requests.ts'

const { Image } = io

export const read = async (
  body: Uint8Array,
  options: ImageOptions = {},
  contentType?: string,
  ctx?: Context,
) => new Image(options).fromHttpRequest(requestOf(body, contentType), ctx)

/** The error of a refused body. */
export const refusal = (...args: Parameters<typeof read>): Promise<BadInput> =>
  read(...args).then(
    () => expect.unreachable('it was accepted'),
    (error) => error,
  )

export const write = async (value: RasterImage | NDArray, options: ImageOptions = {}) => {
  const response = await new Image(options).toHttpResponse(value)
  return { headers: Object.fromEntries(response.headers), body: response.body as Uint8Array }
}
