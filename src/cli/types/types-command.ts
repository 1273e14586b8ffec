/**
 * `serving types`: a typed service and a client for an ONNX file, from the texts of `template/types`. `serving diff`:
 * what another version of the file breaks, told from the headers of both.
 * @module
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { breaksOf, type ModelSignature } from '../../runner/onnx/signature.ts'
import { templateUrl } from '../package-source.ts'
import { type OnnxHeader, readHeader } from './onnx-header.ts'

/**
 * Writes beside a model the signature that its header tells, and a service and a client unless they are there.
 *
 * @returns what to print.
 * @throws InvalidArgument for a file that is no ONNX model of arrays.
 */
export function typesCommand(path: string): string {
  const file = basename(path)
  const base = file.replace(/\.onnx$/, '')
  const header = readHeader(path)
  const words = wordsOf(header, file, base)
  // Lines with a mark are about labels.
  const marked = header.scores === undefined ? '' : '$1'
  const lines = ['.signature', '', '.client'].map((ending) => {
    const target = join(dirname(path), `${base}${ending}.ts`)
    if (ending !== '.signature' && existsSync(target)) return `kept ${target}\n`
    const text = readFileSync(new URL(`types/service${ending}.txt`, templateUrl), 'utf8')
      .replace(/^\? ?(.*\n)/gm, marked)
      .replace(/[A-Z]{4,}/g, (word) => words[word] ?? word)
      .replace(/(?<=[\w)])\["([a-z_$][\w$]*)"\]/gi, '.$1')
    writeFileSync(target, text)
    return `wrote ${target}\n`
  })
  return lines.join('')
}

const quoted = (value: unknown) => JSON.stringify(value)
const linesOf = (entries: readonly (readonly string[])[]) =>
  entries.map((entry) => `    ${entry.join(': ')},\n`).join('')

/** @returns the words in capitals of the texts. */
function wordsOf(
  { labels, scores, ...signature }: OnnxHeader,
  file: string,
  base: string,
): Readonly<Record<string, string>> {
  const typesOf = (side: keyof ModelSignature) =>
    linesOf(Object.entries(signature[side]).map((entry) => entry.map(quoted)))
  const sideOf = (side: keyof ModelSignature) => {
    const arrays = Object.entries(signature[side]).map(([name, { shape }]) => {
      const exact = `enforceDtype: true, enforceShape: ${shape !== undefined}`
      const type = `...signature.${side}[${quoted(name)}]`
      return [quoted(name), `new io.NumpyNdarray({ ${type}, ${exact} })`]
    })
    const [[name, array], ...others] = arrays
    if (others.length === 0) return { name, descriptor: array }
    return { name: undefined, descriptor: `new io.Multipart({\n${linesOf(arrays)}})` }
  }
  const [input, output] = [sideOf('inputs'), sideOf('outputs')]
  const run = `await model.run(${input.name ? `{ ${input.name}: x }` : 'x'}, ctx)`
  return {
    NAMES: scores === undefined ? 'signature' : 'labels, signature',
    FILE: quoted(file),
    PATH: quoted(`./${encodeURIComponent(file)}`),
    MODULE: quoted(`./${base}.ts`),
    SIGNATURE: quoted(`./${base}.signature.ts`),
    INPUTS: typesOf('inputs'),
    OUTPUTS: typesOf('outputs'),
    LABELS: quoted(labels),
    SERVICE: base.replace(/\W/g, '_'),
    ARGUMENT: input.descriptor,
    RESULT: output.descriptor,
    ANSWER: output.name ? `(${run})[${output.name}]` : run,
    SCORES: `(${run})[${quoted(scores)}]`,
  }
}

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
