/**
 * JSON.parse in slices: a text is cut at element boundaries, JSON.parse runs on the pieces, and the results are put
 * together.
 * @module
 */
import { isAscii } from 'node:buffer'
import { BadInput, PayloadTooLarge } from '../errors.ts'
import { LongList } from '../memory/long-list.ts'
import type { Slices } from '../memory/slices.ts'
import { containerWork, maxStretchBytes } from './json-scan.ts'
import { skipSpace } from './json-syntax.ts'

/** How much of a text is parsed at a time. Tests make it smaller. */
export interface PieceSize {
  /** **Units**: those of `JsonMeasure.work`. */
  readonly work: number
  /** Longer strings are cut. **Units**: bytes. */
  readonly bytes: number
}

/**
 * Parses a piece, as JSON.parse. `text` is bytes of the whole text from `start` to `end`, within brackets of their kind
 * unless they are all of it.
 */
export type PieceParser = (text: string, start: number, end: number) => unknown

const parseAlone: PieceParser = (text) => JSON.parse(text)

// A tenth of a millisecond of records, two of objects that have each a key of its own.
const defaultPiece: PieceSize = { work: 8192, bytes: 1 << 18 }

// Where a call of `indexOf` begins to cost less than a loop. **Units**: bytes.
const shortString = 64

const quote = 0x22
const backslash = 0x5c
const letterU = 0x75
const comma = 0x2c
const colon = 0x3a
const list = 0x5b

/** A list or an object whose opening bracket was read, and whose closing one was not. */
class Level {
  readonly bracket: number
  readonly kind: number
  /** Where its elements start that were not parsed yet. */
  start: number
  /** Where its last element starts: after the last comma, or after the bracket. */
  element: number
  /** Set once elements of it were parsed. */
  target: unknown[] | Record<string, unknown> | undefined
  /** Fills the target of a list. */
  long: LongList<unknown> | undefined
  /** The element before `start` was put in whole, so that a comma or the closing bracket must follow. */
  isAfterChild = false
  /** Members of the object so far; a key that comes twice counts twice. */
  members = 0

  constructor(bracket: number, kind: number) {
    this.bracket = bracket
    this.kind = kind
    this.start = bracket + 1
    this.element = bracket + 1
  }
}

/** What is built of a text. */
export interface JsonTarget {
  /** The descriptor's name, for errors. */
  readonly name: string
  /** Maximum number of members of an object. Objects of a piece are not counted: they have at most 2,900. */
  readonly maxKeys: number
}

/**
 * Parses valid UTF-8 of at most `maxJsonDepth` levels, with the result of JSON.parse: `__proto__` is an own key, and of
 * duplicate keys the last one counts. **Errors**: SyntaxError wherever JSON.parse throws, without a place;
 * PayloadTooLarge for an object of more than `maxKeys` members; BadInput `size` for a key of more than
 * `maxStretchBytes`, which V8 hashes at once.
 */
export function* buildJson(
  json: Uint8Array,
  target: JsonTarget,
  parsePiece: PieceParser = parseAlone,
  piece: PieceSize = defaultPiece,
): Slices<unknown> {
  const builder = new Builder(json, target, parsePiece)
  const levels: Level[] = []
  let work = 0
  let pieceStart = 0
  let i = 0
  for (; i < json.length; i++) {
    const byte = json[i]
    if (byte === quote) {
      const start = i
      work += 2
      i = endOfShortString(json, start + 1, start + piece.bytes)
      if (json[i] === quote) continue
      const cuts = yield* cutString(json, start + 1, piece.bytes)
      i = cuts[cuts.length - 1]
      // Keys are parsed with their member.
      if (json[skipSpace(json, i + 1, json.length)] === colon) {
        if (i - start > maxStretchBytes) throw longKey(target.name, start)
        continue
      }
      if (levels.at(-1)?.isAfterChild) throw new SyntaxError('expected a comma')
      builder.takeAll(levels)
      builder.put(levels.at(-1), start, yield* builder.string(cuts))
      const level = levels.at(-1)
      if (level === undefined) break
      level.start = i + 1
      level.isAfterChild = true
    } else if ((byte | 0x20) === 0x7b) {
      const parent = levels.at(-1)
      if (parent?.isAfterChild) throw new SyntaxError('expected a comma')
      levels.push(new Level(i, byte))
      work += containerWork
    } else if ((byte | 0x20) === 0x7d) {
      const level = levels.pop()
      // A closing bracket is its opening one plus 2.
      if (level === undefined || level.kind !== byte - 2) throw new SyntaxError('a bracket of the other kind')
      if (level.target === undefined) continue
      builder.takeRest(level, i)
      const parent = levels.at(-1)
      if (parent === undefined) break
      parent.start = i + 1
      parent.isAfterChild = true
    } else if (byte === comma) {
      const level = levels.at(-1)
      if (level === undefined) throw new SyntaxError('a comma outside of lists and objects')
      if (level.isAfterChild) {
        builder.requireBlank(level.start, i)
        level.isAfterChild = false
        level.start = i + 1
      }
      level.element = i + 1
      if (++work < piece.work && i - pieceStart < piece.bytes) continue
      builder.takeAll(levels)
      work = 0
      pieceStart = i
      yield
    }
  }
  if (levels.length > 0) throw new SyntaxError('the text ends too early')
  return builder.finish(i)
}

/**
 * Returns the offset of the quote that closes a string, of which `start` is the first byte or that of an escape; the
 * offset of a character or an escape from `limit` on where that comes first.
 */
function endOfString(json: Uint8Array, start: number, limit: number): number {
  let i = start
  for (; i < limit && i < json.length; i++) {
    const byte = json[i]
    if (byte === quote) return i
    if (byte === backslash) i += json[i + 1] === letterU ? 5 : 1
  }
  while ((json[i] & 0xc0) === 0x80) i++
  if (i >= json.length) throw new SyntaxError('a string without an end')
  return i
}

/** As {@link endOfString}, natively where the next quote is not escaped. */
function endOfShortString(json: Uint8Array, start: number, limit: number): number {
  const near = endOfString(json, start, Math.min(limit, start + shortString))
  if (json[near] === quote || near >= limit) return near
  const end = json.indexOf(quote, near)
  return end !== -1 && end < limit && json[end - 1] !== backslash ? end : endOfString(json, near, limit)
}

/** Returns where the pieces of a string begin, of which none cuts a character or an escape, and where it ends. */
function* cutString(json: Uint8Array, start: number, bytes: number): Slices<number[]> {
  const cuts = [start]
  for (let i = start; ; ) {
    i = endOfString(json, i, i + bytes)
    cuts.push(i)
    if (json[i] === quote) return cuts
    yield
  }
}

class Builder {
  readonly #json: Buffer
  readonly #isAscii: boolean
  readonly #into: JsonTarget
  readonly #parsePiece: PieceParser
  #root: unknown

  constructor(json: Uint8Array, into: JsonTarget, parsePiece: PieceParser) {
    this.#into = into
    this.#parsePiece = parsePiece
    this.#json = Buffer.from(json.buffer, json.byteOffset, json.length)
    this.#isAscii = isAscii(json)
  }

  /** Takes all elements that are complete, at a comma of the innermost level, which `element` is behind. */
  takeAll(levels: readonly Level[]): void {
    // Levels above one that has a target were taken before, up to that one.
    let first = Math.max(0, levels.length - 1)
    while (first > 0 && levels[first].target === undefined) first--
    for (let depth = first; depth < levels.length; depth++) {
      const level = levels[depth]
      if (level.target === undefined) this.#open(levels[depth - 1], level)
      if (level.element > level.start) this.#add(level, level.start, level.element - 1)
      level.start = level.element
      level.long?.progress(level.start, this.#json.length)
    }
  }

  /** Takes what is left of a level at its closing bracket. */
  takeRest(level: Level, end: number): void {
    if (level.isAfterChild) this.requireBlank(level.start, end)
    else this.#add(level, level.start, end)
    level.long?.finish()
  }

  requireBlank(start: number, end: number): void {
    if (!/^[ \t\n\r]*$/.test(this.#text(start, end))) throw new SyntaxError('expected a comma')
  }

  /** Returns the value, at the closing bracket of the text's list or object, or at its end. */
  finish(end: number): unknown {
    const { length } = this.#json
    if (this.#root === undefined) return this.#parsePiece(this.#text(0, length), 0, length)
    this.requireBlank(end + 1, length)
    return this.#root
  }

  /** Makes the list or object of a level and puts it into that of its parent. */
  #open(parent: Level | undefined, level: Level): void {
    if (level.kind === list) {
      level.target = []
      level.long = new LongList(level.bracket, level.target)
    } else level.target = {}
    this.put(parent, level.bracket, level.target)
  }

  /** Puts a value that begins at `start`, the last one of its level, into the level's list or object. */
  put(level: Level | undefined, start: number, value: unknown): void {
    if (level === undefined) {
      this.requireBlank(0, start)
      this.#root = value
    } else if (level.long !== undefined) {
      this.requireBlank(level.element, start)
      level.long.push(value)
    } else {
      // The blank keeps `{"a":5[` from reading as `{"a":50`.
      const key = JSON.parse(`{${this.#text(level.element, start)} 0}`) as object
      this.#define(level, Object.keys(key)[0], value)
    }
  }

  /** Parses a string piece by piece. */
  *string(cuts: readonly number[]): Slices<string> {
    let text = ''
    for (let i = 1; i < cuts.length; i++) {
      text += JSON.parse(`"${this.#text(cuts[i - 1], cuts[i])}"`)
      yield
    }
    return text
  }

  /** Parses elements and adds them to their level. */
  #add(level: Level, start: number, end: number): void {
    const { long } = level
    const text = this.#text(start, end)
    if (long !== undefined) {
      const values = this.#parsePiece(`[${text}]`, start, end) as unknown[]
      if (values.length === 0) throw new SyntaxError('expected an element')
      for (const value of values) long.push(value)
    } else {
      const members = this.#parsePiece(`{${text}}`, start, end) as Record<string, unknown>
      const keys = Object.keys(members)
      if (keys.length === 0) throw new SyntaxError('expected a member')
      for (const key of keys) this.#define(level, key, members[key])
    }
  }

  #define(level: Level, key: string, value: unknown): void {
    const { name, maxKeys } = this.#into
    if (++level.members > maxKeys) {
      throw new PayloadTooLarge(`expected at most ${maxKeys} keys in an object for ${name} (maxKeys), received more`)
    }
    define(level.target as Record<string, unknown>, key, value)
  }

  #text(start: number, end: number): string {
    return this.#json.toString(this.#isAscii ? 'latin1' : 'utf8', start, end)
  }
}

/** Sets an own property, as JSON.parse does for every key. */
function define(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__') {
    Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true })
  } else target[key] = value
}

function longKey(name: string, offset: number): BadInput {
  const message = `expected at most ${maxStretchBytes} bytes of a key for ${name}, received more at byte ${offset}`
  return new BadInput(message, { reason: 'size', offset })
}
