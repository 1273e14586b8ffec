import { concat } from '../core/platform.ts'
import type * as node from './unpack.ts'

export const unpack: typeof node.unpack = async (body, coding, limit) => {
  const packed = new Blob([body as Uint8Array<ArrayBuffer>]).stream()
  const reader = packed.pipeThrough(new DecompressionStream(coding)).getReader()
  const pieces: Uint8Array[] = []
  let length = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return concat(pieces)
    pieces.push(value)
    length += value.length
    if (length <= limit) continue
    reader.cancel().catch(() => {})
    return undefined
  }
}
