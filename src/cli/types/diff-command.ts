/** `serving diff`: what another version of a model breaks, told from the headers of both files. @module */
import { breaksOf } from '../../runner/onnx/signature.ts'
import { readHeader } from './onnx-header.ts'

/**
 * Compares two versions of a model by the APIs that `serving types` writes for the first.
 *
 * @returns a line for each change that breaks some.
 * @throws InvalidArgument for a file that is no ONNX model of arrays.
 */
export function diffCommand(...paths: [before: string, after: string]): string[] {
  const [before, after] = paths.map(readHeader)
  const { scores, labels } = before
  const label = scores === undefined ? '' : ', label'
  const lines = breaksOf(before, after).map(({ side, name, text }) => {
    const isAsked = side === 'inputs' || name === scores
    return `${text}: breaks predict${isAsked ? label : ''} and clients`
  })
  const at = labels.findIndex((text, i) => text !== after.labels[i])
  if (label === '' || at === -1) return lines
  const now = after.labels[at] ?? 'absent'
  return [...lines, `label ${at} is ${now}, was ${labels[at]}: breaks label and clients`]
}
