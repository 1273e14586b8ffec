/** What the add-on writes as JSON or CSV. @module */
import { elementTypes } from '../../../core/dtype.ts'
import type { Addon } from '../../../core/native/add-on.ts'
import {
  encodeColumnWord as columnPlace,
  encodeWord,
  labelMode,
  nestedCode,
  stepKind,
  stepWord as stepPlace,
  wordsOf,
} from '../../../core/native/shared-numbers.ts'
import {
  type AnyColumn,
  type Column,
  childrenOf,
  type ListColumn,
  type StructColumn,
} from '../columns.ts'
import { elements, type PlanStep, type RowsStep } from './frame-plan.ts'

/** Columns and the steps that write them. */
export class EncodeProgram {
  readonly #parts: Uint8Array[] = []
  readonly #columns: number[] = []
  readonly #steps: number[] = []
  readonly #counts = { columns: 0, steps: 0 }
  /** Nested columns, whose own columns come behind all others. */
  readonly #parents: { readonly column: ListColumn | StructColumn; readonly at: number }[] = []
  #buffer: ArrayBufferLike | undefined
  #part = -1
  #text = ''
  #textBytes = 0

  /** Adds a column under the text of its key. */
  column(column: AnyColumn, key: string): void {
    const words = this.#columns
    const at = words.length
    const { data, validity, offsets, heaps = [] } = column as Partial<Column>
    words[at + columnPlace.kind] = codeOf(column)
    this.#range(at + columnPlace.data, data)
    this.#range(at + columnPlace.validity, validity)
    this.#range(at + columnPlace.offsets, offsets)
    words[at + columnPlace.firstHeap] = this.#parts.length
    words[at + columnPlace.heaps] = heaps.length
    this.#piece(words, at + columnPlace.keyAt, key)
    words[at + columnPlace.firstChild] = 0
    words[at + columnPlace.children] = 0
    if (!('kind' in column)) this.#parents.push({ column, at })
    this.#counts.columns++
    if (heaps.length === 0) return
    for (const heap of heaps) this.#parts.push(heap)
    this.#buffer = undefined
  }

  /** Adds a step. The labels, if there are any, are the last column. */
  step(step: PlanStep, hasLabels = false): void {
    if (typeof step === 'string') this.#step(stepKind.text, { ...elements, count: 0, before: step })
    else this.#step(stepKind.rows, step, hasLabels && step.label !== 'none')
  }

  /** Adds all rows as lines of CSV. */
  csvLines(): void {
    this.#step(stepKind.csv, { ...elements, count: this.#counts.columns })
  }

  /** @returns what the add-on writes; undefined for buffers that contradict each other. */
  write(addon: Addon, rows: number): Uint8Array | undefined {
    // Children that are nested, too, join the list.
    for (const parent of this.#parents) this.#children(parent.column, parent.at)
    const words = new Float64Array(encodeWords + this.#columns.length + this.#steps.length)
    words[encodeWord.columns] = this.#counts.columns
    words[encodeWord.steps] = this.#counts.steps
    words[encodeWord.rows] = rows
    words.set(this.#columns, encodeWords)
    words.set(this.#steps, encodeWords + this.#columns.length)
    const buffer = addon.encodeFrame(words, this.#parts, Buffer.from(this.#text))
    return buffer && Buffer.from(buffer)
  }

  #children(column: ListColumn | StructColumn, at: number): void {
    const children = childrenOf(column)
    this.#columns[at + columnPlace.firstChild] = this.#counts.columns
    this.#columns[at + columnPlace.children] = children.length
    for (const child of children) this.column(child, `${JSON.stringify(child.name)}:`)
  }

  #step(kind: number, step: RowsStep, isLabelled = false): void {
    const words = this.#steps
    const at = words.length
    words[at + stepPlace.kind] = kind
    this.#piece(words, at + stepPlace.textAt, step.before)
    words[at + stepPlace.labelMode] = labelMode[step.label]
    words[at + stepPlace.labels] = isLabelled ? this.#counts.columns : 0
    this.#piece(words, at + stepPlace.afterAt, step.after)
    this.#piece(words, at + stepPlace.closeAt, step.close)
    words[at + stepPlace.firstColumn] = step.first
    words[at + stepPlace.columns] = step.count
    words[at + stepPlace.hasKeys] = Number(step.keys)
    this.#counts.steps++
  }

  /** Sets a range. Columns that follow each other in one buffer, as those of an Arrow file do, share a part. */
  #range(at: number, view: Uint8Array | Int32Array | undefined): void {
    if (view !== undefined && view.buffer !== this.#buffer) {
      this.#part = this.#parts.push(new Uint8Array(view.buffer)) - 1
      this.#buffer = view.buffer
    }
    const words = this.#columns
    words[at] = view === undefined ? -1 : this.#part
    words[at + 1] = view?.byteOffset ?? 0
    words[at + 2] = view?.byteLength ?? 0
  }

  /** Sets where a text starts and ends. */
  #piece(words: number[], at: number, text: string): void {
    words[at] = this.#textBytes
    if (text !== '') {
      this.#text += text
      this.#textBytes += Buffer.byteLength(text)
    }
    words[at + 1] = this.#textBytes
  }
}

function codeOf(column: AnyColumn): number {
  if ('items' in column) return nestedCode.list
  if ('fields' in column) return nestedCode.struct
  if (column.isJson) return nestedCode.json
  return elementTypes[column.kind].code
}

const encodeWords = wordsOf(encodeWord)
