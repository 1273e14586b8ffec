/**
 * Why a JSON body is not a frame, in words.
 * @module
 */
import type { BadInputReason } from '../../../core/errors.ts'
import { type FrameFailureKind, maxFrameColumns } from './frame-codec.ts'

const words: Record<FrameFailureKind, readonly [reason: BadInputReason, expected: string, received: string]> = {
  syntax: ['syntax', 'JSON', 'another character or the end of the body'],
  encoding: ['encoding', 'whole characters', 'half of a surrogate pair'],
  ragged: ['ragged', 'rows of equal form and length', 'a different one'],
  kind: ['dtype', 'elements of one kind', 'one of another kind than those above it'],
  range: ['dtype', 'integers of 64 bits and finite floats', 'a number beyond'],
  nested: ['dtype', 'at most 16 levels of lists and objects', 'more'],
  layout: ['columns', 'a layout of frames', 'another form'],
  duplicate: ['columns', 'names and labels that differ', 'one twice'],
  keys: ['columns', 'objects with keys', 'a key too many or too few'],
  labels: ['columns', 'labels all strings or all numbers', 'another one'],
  columns: ['size', `at most ${maxFrameColumns} columns`, 'more'],
  cells: ['size', 'a frame not much larger than its body', 'one with far more cells than it has values'],
}

/** Returns the reason of a failure, what was expected and what came. */
export function failureWords(failure: FrameFailureKind): {
  readonly reason: BadInputReason
  readonly expected: string
  readonly received: string
} {
  const [reason, expected, received] = words[failure]
  return { reason, expected, received }
}
