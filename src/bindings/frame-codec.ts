/**
 * The choice between the native frame codec and the TypeScript one.
 * @module
 */
import type { FrameCodec } from '../data/frame-codec.ts'
import { typescriptFrameCodec } from '../data/frame-json.ts'

/** The codec that serves. */
export const frameCodec: FrameCodec = typescriptFrameCodec
