/** What Node has for bytes, texts and clocks; platform.web.ts has the same for browsers and Workers. @module */
import { isAscii, isUtf8, transcode } from 'node:buffer'
import { createRequire } from 'node:module'
import { availableParallelism } from 'node:os'
// The global of this name is a slow getter.
import { performance } from 'node:perf_hooks'

export { availableParallelism, isAscii, isUtf8, performance }

const require = createRequire(import.meta.url)
const used: { crypto?: typeof import('node:crypto') } = {}

/** Node's, loaded with its first use, since that takes 3 ms. */
function nodeCrypto(): typeof import('node:crypto') {
  used.crypto ??= require('node:crypto') as typeof import('node:crypto')
  return used.crypto
}

/** Most that a pool keeps of free memory. **Units**: bytes. */
export const maxFreeBytes = 128 * 1024 * 1024

/** @returns memory of its own, not zeroed. */
export const allocate: (size: number) => Uint8Array<ArrayBuffer> = Buffer.allocUnsafeSlow

/** Joins bytes. */
export const concat: (pieces: readonly Uint8Array[]) => Uint8Array = Buffer.concat

/** @returns how many bytes of UTF-8 a text takes, or how many bytes there are. */
export const byteLength: (chunk: string | Uint8Array) => number = Buffer.byteLength

/** @returns a text as UTF-8. */
export const utf8Bytes: (text: string) => Uint8Array = (text) => Buffer.from(text)

/** Decodes UTF-8; ill-formed sequences become U+FFFD, a byte order mark stays. */
export function utf8Text({ buffer, byteOffset, length }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, length).toString()
}

// Before Node 24 its vectorised conversion to UTF-16 is faster than TextDecoder from some length on.
const transcodedBytes = 4096

/** Decodes well-formed UTF-8 in the fastest way; undefined if a TextDecoder is faster, or the text is ill-formed. */
export function longUtf8Text(bytes: Uint8Array): string | undefined {
  const isFaster = bytes.length > transcodedBytes && isUtf8(bytes)
  if (isFaster) return transcode(bytes, 'utf8', 'utf16le').toString('utf16le')
  return undefined
}

const { latin1Slice } = Buffer.prototype as unknown as {
  latin1Slice(this: Uint8Array, start: number, end: number): string
}

/** @returns the text whose code units are these bytes. */
export function latin1Text(bytes: Uint8Array, start = 0, end: number = bytes.length): string {
  return latin1Slice.call(bytes, start, end)
}

/** @returns 128 bits of SHA-256 as text; undefined where it is not to be had at once. */
export function digestOf(content: string | Uint8Array): string | undefined {
  return nodeCrypto().createHash('sha256').update(content).digest('base64url').slice(0, 22)
}

/** @returns random bytes as text of two digits each. */
export function randomHex(bytes: number): string {
  return nodeCrypto().randomBytes(bytes).toString('hex')
}

/** @returns a text that is nobody else's. */
export const randomId: () => string = () => crypto.randomUUID()

/** @returns elements of 2, 4 or 8 bytes in the other byte order. */
export function swapBytes(bytes: Uint8Array, size: number): Uint8Array {
  const copy = Buffer.allocUnsafeSlow(bytes.length)
  copy.set(bytes)
  if (size === 2) return copy.swap16()
  if (size === 4) return copy.swap32()
  return copy.swap64()
}
