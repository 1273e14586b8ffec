/**
 * Loads an ONNX model again and again while its parent asks for it, with ONNX Runtime alone: the other process of
 * `pool.ts --elsewhere`.
 * @module
 */
import { createRequire } from 'node:module'

const ort = createRequire(import.meta.url)('onnxruntime-node') as typeof import('onnxruntime-node')
const [, , file] = process.argv
let isLoading = false

process.on('message', async (message) => {
  isLoading = message === 'load'
  if (!isLoading) return
  let loads = 0
  while (isLoading) {
    const session = await ort.InferenceSession.create(file, { intraOpNumThreads: 1 })
    await session.release()
    loads++
  }
  process.send?.(loads)
})
