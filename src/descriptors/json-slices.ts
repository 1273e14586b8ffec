/**
 * Writes large values as JSON text in slices, with turns of the event loop between them.
 * @module
 */
import { joinBytes, type Slices } from '../core/memory/slices.ts'

/** Writes values at once, and finds those that would take too long. */
export interface ShortJson {
  /** Returns the text of a value that JSON.stringify writes as it should be, in a millisecond; otherwise undefined. */
  plainText(value: unknown, depth: number): string | undefined
  /** Whether a value takes longer: a list, a plain object or a string. */
  isLarge(value: unknown): boolean
  /** Returns the text of any value; undefined for one that objects omit and lists write as null. */
  text(value: unknown, path: string, depth: number): string | undefined
}

/** Elements of a list that are written at once where they are short; otherwise an eighth of it, and so on. */
const maxChunkLength = 512
/** **Units**: characters. */
const stringPiece = 1 << 17
const flushLength = 1 << 16

/** Writes a value of at most `maxDepth` levels, with the text of `short`. Returns bytes that nobody else has. */
export function* writeJson(value: unknown, short: ShortJson, maxDepth: number): Slices<Uint8Array> {
  const writer = new Writer(short, maxDepth)
  yield* writer.value(value, '', 0)
  return yield* writer.finish()
}

class Writer {
  readonly #short: ShortJson
  readonly #maxDepth: number
  readonly #pieces: Uint8Array[] = []
  #text = ''

  constructor(short: ShortJson, maxDepth: number) {
    this.#short = short
    this.#maxDepth = maxDepth
  }

  *value(value: unknown, path: string, depth: number): Slices<void> {
    const short = this.#short
    const isLarge = short.isLarge(value)
    // The keys of a large object are listed once here and once below: 50 ms for 100,000.
    if (isLarge) yield
    if (!isLarge || depth > this.#maxDepth) this.#push(short.text(value, path, depth) ?? 'null')
    else if (typeof value === 'string') yield* this.#string(value)
    else if (Array.isArray(value)) yield* this.#list(value, path, depth)
    else yield* this.#record(value as Record<string, unknown>, path, depth)
    yield
  }

  *#string(value: string): Slices<void> {
    this.#push('"')
    for (let start = 0; start < value.length; ) {
      let end = Math.min(value.length, start + stringPiece)
      // A pair of surrogates stays together, or both halves would be escaped.
      if ((value.charCodeAt(end - 1) & 0xfc00) === 0xd800) end++
      this.#push(JSON.stringify(value.slice(start, end)).slice(1, -1))
      start = end
      yield
    }
    this.#push('"')
  }

  *#list(list: readonly unknown[], path: string, depth: number): Slices<void> {
    let chunkLength = maxChunkLength
    let single = 0
    this.#push('[')
    for (let start = 0; start < list.length; ) {
      const text = chunkLength === 1 ? undefined : this.#short.plainText(list.slice(start, start + chunkLength), depth)
      if (text !== undefined) {
        this.#push(`${start === 0 ? '' : ','}${text.slice(1, -1)}`)
        start += chunkLength
        yield
      } else if (chunkLength > 1) {
        chunkLength /= 8
        yield
      } else {
        if (start > 0) this.#push(',')
        yield* this.value(list[start], `${path}[${start}]`, depth + 1)
        start++
        if (++single % maxChunkLength === 0) chunkLength = maxChunkLength
      }
    }
    this.#push(']')
  }

  *#record(value: Record<string, unknown>, path: string, depth: number): Slices<void> {
    let separator = '{'
    for (const key of Object.keys(value)) {
      const item = value[key]
      const inner = path === '' ? key : `${path}.${key}`
      const isLarge = this.#short.isLarge(item)
      if (isLarge) yield
      const text = isLarge ? '' : this.#short.text(item, inner, depth + 1)
      if (text === undefined) continue
      this.#push(`${separator}${JSON.stringify(key)}:${text}`)
      separator = ','
      if (isLarge) yield* this.value(item, inner, depth + 1)
      else yield
    }
    this.#push(separator === '{' ? '{}' : '}')
  }

  #push(text: string): void {
    this.#text += text
    if (this.#text.length > flushLength) this.#flush()
  }

  #flush(): void {
    this.#pieces.push(Buffer.from(this.#text))
    this.#text = ''
  }

  *finish(): Slices<Uint8Array> {
    this.#flush()
    return yield* joinBytes(this.#pieces)
  }
}
