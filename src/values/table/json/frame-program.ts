/**
 * What the add-on writes as JSON: columns, pieces of text, and the steps over both as native/src/frame_addon.cpp reads
 * them. Made once for a table, of which it may write some rows at a time.
 * @module
 */
import { elementTypes } from '../../../core/dtype.ts'
import type { Slices } from '../../../core/memory/slices.ts'
import type { FrameAddon } from '../../../core/native/add-on.ts'
import { type Column, type ColumnTable, jsonCode } from '../columns.ts'
import type { PlanStep } from './frame-plan.ts'

// Words of the header, of a column and of a step.
const headerWords = 6
const columnWords = 14
const stepWords = 12

/** Columns that are added in a slice, at a microsecond each. */
const columnsInSlice = 512

/** A table and steps over it, as the add-on takes them. */
export interface FrameProgram {
  /** Writes rows `start` to `end` of each step; undefined for buffers that contradict each other. */
  write(addon: FrameAddon, start: number, end: number): Uint8Array | undefined
}

/** Makes the program of a table's steps, in slices; rows without labels are numbered from 0. */
export function* programOf(
  { columns }: ColumnTable,
  steps: readonly PlanStep[],
  labels: Column | undefined,
): Slices<FrameProgram> {
  const program = new Program()
  for (const [i, column] of columns.entries()) {
    program.column(column, `${JSON.stringify(column.name)}:`)
    if (i % columnsInSlice === columnsInSlice - 1) yield
  }
  if (labels !== undefined) program.column(labels, '')
  for (const step of steps) program.step(step, labels === undefined ? -1 : columns.length)
  program.finish()
  return program
}

class Program implements FrameProgram {
  readonly #parts: Uint8Array[] = []
  readonly #columns: number[] = []
  readonly #steps: number[] = []
  #buffer: ArrayBufferLike | undefined
  #part = -1
  #text = ''
  #textBytes = 0
  #words = new Float64Array(0)
  #texts: Uint8Array = this.#words as unknown as Uint8Array

  column({ kind, data, validity, offsets, heaps, isJson }: Column, key: string): void {
    const words = this.#columns
    words.push(isJson ? jsonCode : elementTypes[kind].code)
    this.#range(data)
    this.#range(validity)
    this.#range(offsets)
    words.push(this.#parts.length, heaps?.length ?? 0)
    this.#piece(key, words)
    if (heaps !== undefined && heaps.length > 0) {
      this.#parts.push(...heaps)
      this.#buffer = undefined
    }
  }

  step(step: PlanStep, labels: number): void {
    const words = this.#steps
    if (typeof step === 'string') {
      words.push(0)
      this.#piece(step, words)
      words.push(0, 0, 0, 0, 0, 0, 0, 0, 0)
      return
    }
    const { before, label, after, first, count, keys, close } = step
    words.push(1, label, label === 0 ? -1 : labels)
    this.#piece(before, words)
    this.#piece(after, words)
    this.#piece(close, words)
    words.push(first, count, keys ? 1 : 0)
  }

  finish(): void {
    const [columns, steps] = [this.#columns, this.#steps]
    this.#words = new Float64Array(headerWords + columns.length + steps.length)
    this.#words[2] = columns.length / columnWords
    this.#words[3] = steps.length / stepWords
    this.#words.set(columns, headerWords)
    this.#words.set(steps, headerWords + columns.length)
    this.#texts = Buffer.from(this.#text)
  }

  write(addon: FrameAddon, start: number, end: number): Uint8Array | undefined {
    this.#words[4] = start
    this.#words[5] = end - start
    const buffer = addon.encodeFrame(this.#words, this.#parts, this.#texts)
    return buffer && new Uint8Array(buffer, 0, this.#words[1])
  }

  /** Adds where bytes lie. Columns that follow each other in one buffer, as those of an Arrow file do, share a part. */
  #range(bytes: Uint8Array | Int32Array | undefined): void {
    const words = this.#columns
    if (bytes === undefined) {
      words.push(-1, 0, 0)
      return
    }
    const { buffer, byteOffset, byteLength } = bytes
    if (buffer !== this.#buffer) {
      this.#part = this.#parts.push(new Uint8Array(buffer)) - 1
      this.#buffer = buffer
    }
    words.push(this.#part, byteOffset, byteLength)
  }

  /** Adds a piece of text. */
  #piece(text: string, words: number[]): void {
    words.push(this.#textBytes)
    if (text !== '') {
      this.#text += text
      this.#textBytes += Buffer.byteLength(text)
    }
    words.push(this.#textBytes)
  }
}
