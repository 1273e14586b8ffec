/** What browsers and Workers have for bytes, texts and clocks. @module */
import type * as node from './platform.ts'

export const { performance } = globalThis
// A Worker may keep no timer between requests, which would free the memory of a pool.
export const maxFreeBytes: typeof node.maxFreeBytes = 0
export const availableParallelism: typeof node.availableParallelism = () => 1
export const allocate: typeof node.allocate = (size) => new Uint8Array(size)

export const concat: typeof node.concat = (pieces) => {
  const whole = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.length
  }
  return whole
}

const encoder = new TextEncoder()
const lenient = new TextDecoder('utf-8', { ignoreBOM: true })
const fatal = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export const utf8Bytes: typeof node.utf8Bytes = (text) => encoder.encode(text)
export const utf8Text: typeof node.utf8Text = (bytes) => lenient.decode(bytes)
export const longUtf8Text: typeof node.longUtf8Text = () => undefined
export const byteLength: typeof node.byteLength = (chunk) =>
  typeof chunk === 'string' ? encoder.encode(chunk).length : chunk.length
export const digestOf: typeof node.digestOf = () => undefined
export const isAscii = (bytes: Uint8Array): boolean => bytes.every((byte) => byte < 0x80)

export const isUtf8 = (bytes: Uint8Array): boolean => {
  try {
    fatal.decode(bytes)
    return true
  } catch {
    return false
  }
}

// More arguments at once could overflow the stack.
const charactersAtOnce = 4096

export const latin1Text: typeof node.latin1Text = (bytes, start = 0, end = bytes.length) => {
  let text = ''
  for (let at = start; at < end; at += charactersAtOnce) {
    text += String.fromCharCode(...bytes.subarray(at, Math.min(end, at + charactersAtOnce)))
  }
  return text
}

// Pages without TLS have no randomUUID.
export const randomId: typeof node.randomId = () => randomHex(16)

export const randomHex: typeof node.randomHex = (bytes) =>
  [...crypto.getRandomValues(new Uint8Array(bytes))]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('')

export const swapBytes: typeof node.swapBytes = (bytes, size) => {
  const copy = new Uint8Array(bytes)
  for (let at = 0; at < copy.length; at += size) copy.subarray(at, at + size).reverse()
  return copy
}
