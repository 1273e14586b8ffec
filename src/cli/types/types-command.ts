/** `serving types`: a typed service and a client for an ONNX file, from the texts of `template/types`. @module */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { ModelSignature } from '../../runner/onnx/signature.ts'
import { templateUrl } from '../package-source.ts'
import { type OnnxHeader, readHeader } from './onnx-header.ts'

/**
 * Writes beside a model the signature that its header tells, and a service and a client unless they are there.
 *
 * @returns what to print.
 * @throws InvalidArgument for a file that is no ONNX model of arrays.
 */
export function typesCommand(path: string): string {
  const header = readHeader(path)
  const file = basename(path)
  const base = file.replace(/\.onnx$/, '')
  const texts = textsOf(header, file, base)
  return ['.signature.ts', '.ts', '.client.ts']
    .map((ending, i) => {
      const target = join(dirname(path), base + ending)
      const isKept = i > 0 && existsSync(target)
      if (!isKept) writeFileSync(target, texts[i])
      return `${isKept ? 'kept' : 'wrote'} ${target}\n`
    })
    .join('')
}

const quoted = (value: unknown) => JSON.stringify(value)

function textsOf(header: OnnxHeader, file: string, base: string): string[] {
  const { inputs, outputs, labels, scores } = header
  const descriptorOf = (side: keyof ModelSignature) => {
    const descriptors = Object.entries(header[side]).map(([name, { shape }]) => {
      const exact = `enforceDtype: true${shape ? ', enforceShape: true' : ''}`
      return [
        quoted(name),
        `new io.NumpyNdarray({ ...signature.${side}[${quoted(name)}], ${exact} })`,
      ]
    })
    if (descriptors.length === 1) return descriptors[0][1]
    return `new io.Multipart({\n${linesOf(descriptors)}})`
  }
  const [feeds, answer] = [inputs, outputs].map((types) => {
    const [name, ...others] = Object.keys(types)
    return others.length > 0 ? undefined : quoted(name)
  })
  const run = `await model.run(${feeds ? `{ ${feeds}: x }` : 'x'}, ctx)`
  const label = filled('label', { SCORES: `(${run})[${quoted(scores)}]` })
  const service = filled('service', {
    NAMES: scores === undefined ? 'signature' : 'labels, signature',
    SIGNATURE: quoted(`./${base}.signature.ts`),
    FILE: quoted(`./${encodeURIComponent(file)}`),
    SERVICE: base.replace(/\W/g, '_'),
    INPUT: descriptorOf('inputs'),
    OUTPUT: descriptorOf('outputs'),
    ANSWER: answer ? `(${run})[${answer}]` : run,
    LABEL: scores === undefined ? '' : label,
  })
  const typesOf = (types: object) =>
    linesOf(Object.entries(types).map((entry) => entry.map(quoted)))
  return [
    filled('signature', {
      FILE: quoted(file),
      INPUTS: typesOf(inputs),
      OUTPUTS: typesOf(outputs),
      LABELS: quoted(labels),
    }),
    service.replace(/\["([a-z_$][\w$]*)"\]/gi, '.$1'),
    filled('client', { SERVICE: quoted(`./${base}.ts`) }),
  ]
}

const linesOf = (entries: readonly (readonly string[])[]) =>
  entries.map((entry) => `    ${entry.join(': ')},\n`).join('')

/** @returns a text of `template/types` with values for its words in capitals. */
function filled(name: string, values: Readonly<Record<string, string>>): string {
  const text = readFileSync(new URL(`types/${name}.txt`, templateUrl), 'utf8')
  return text.replace(/[A-Z]{4,}/g, (word) => values[word] ?? word)
}
