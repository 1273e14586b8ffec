/** Explains why a service does not start. @module */
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inspect } from 'node:util'
import { causesOf, SetupError } from '../core/errors.ts'

const root = new URL('../../', import.meta.url)
/** Where frames of the package point: to its files, and in a clone to the sources. */
const ours = ['dist/', 'src/'].flatMap((folder) => {
  const url = new URL(folder, root)
  return [url.href, fileURLToPath(url)]
})

/** @returns what an error says, in one sentence, with its place in the user's code. */
export function explain(error: unknown): string {
  if (!(error instanceof Error)) return `the service threw ${inspect(error, { depth: 1 })}`
  const known = syntaxProblem(error) ?? missingModule(error)
  if (known !== undefined) return known
  const place = placeOf(error)
  const name = error instanceof SetupError || error.name === 'Error' ? '' : `${error.name}: `
  const message = `${name}${error.message || 'an error without a message'}`
  return `${message}${place === undefined ? '' : ` (${place})`}${causesOf(error)}`
}

function syntaxProblem(error: Error): string | undefined {
  // esbuild's, by tsx; then V8's, whose stack begins with the place.
  const [, file, position, problem] =
    /^(?:Transform failed .*\n)?(.+?):(\d+:\d+): ERROR: (.*)$/m.exec(error.message) ?? []
  if (file !== undefined) return `${shown(file)}:${position}: ${problem}`
  if (!(error instanceof SyntaxError)) return undefined
  const [, source, line] = /^((?:file:|\/|[A-Za-z]:\\).*):(\d+)\n/.exec(error.stack ?? '') ?? []
  if (source === undefined) return undefined
  return `${shown(source)}:${line}: ${error.message}`
}

function missingModule(error: Error): string | undefined {
  if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') return undefined
  const [, kind, name, importer] =
    /^Cannot find (module|package) '(.+)' imported from (.+)$/m.exec(error.message) ?? []
  if (importer === undefined) return undefined
  const imports = `${shown(importer)} imports`
  if (kind === 'module') return `${imports} ${shown(name)}, which does not exist`
  return `${imports} the package ${name}, which is not installed: npm install ${name}`
}

/**
 * @returns the place of an error in the user's code as `file:line:column`, below the working
 * directory.
 */
function placeOf({ stack = '' }: Error): string | undefined {
  const frames = stack.split('\n').filter((line) => /^\s+at /.test(line))
  const frame = frames.find(
    (line) => !isInternal(line) && !ours.some((folder) => line.includes(folder)),
  )
  const [, file, line, column] =
    frame?.match(/\(?((?:file:|\/|[A-Za-z]:\\)[^()]*):(\d+):(\d+)\)?$/) ?? []
  if (file === undefined) return undefined
  return `${shown(file)}:${line}:${column}`
}

function shown(file: string): string {
  return relative(process.cwd(), file.startsWith('file:') ? fileURLToPath(file) : file)
}

function isInternal(line: string): boolean {
  return /^\s+at .*(?:\(node:|at node:|at async node:|[\\/]node_modules[\\/]tsx[\\/])/.test(line)
}
