/** The Python that a model runs in: an installed one, or an environment made of packages. @module */
import { spawn } from 'node:child_process'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { InvalidArgument, SetupError } from '../../core/errors.ts'
import { killGroup, startFailure } from '../child-worker.ts'
import type { PythonSettings } from './python-options.ts'

const program = fileURLToPath(new URL('./make_environment.py', import.meta.url))
/** Lines of a failed installation in the error: conda names a missing package, then its channels. */
const shownLines = 24

/** Interval of the log's lines while an environment is made. **Units**: milliseconds. */
const reportEveryMs = 5_000

/**
 * `report` is called when that begins, every few seconds with the installer's last line, and at the
 * end.
 *
 * @returns the Python, or makes its environment once.
 * @throws InvalidArgument on Windows; SetupError.
 */
export async function pythonExecutable(
  place: string,
  settings: PythonSettings,
  {
    stopped,
    report,
  }: { readonly stopped?: AbortSignal; readonly report?: (message: string) => void } = {},
  platform: NodeJS.Platform = process.platform,
): Promise<string> {
  if (platform === 'win32') {
    const remedy = 'serve it in a container or in the Windows Subsystem for Linux'
    throw new InvalidArgument(
      `expected Linux or macOS for the model in Python of ${place}, found Windows: ${remedy}`,
    )
  }
  const { executable, conda } = settings
  if (executable !== undefined) return executable
  const { SERVING_PYTHON, SERVING_PYTHON_PACKAGES, XDG_CACHE_HOME } = process.env
  if (SERVING_PYTHON) return SERVING_PYTHON
  const configured: string[] = SERVING_PYTHON_PACKAGES ? JSON.parse(SERVING_PYTHON_PACKAGES) : []
  const packages = [...configured, ...(settings.packages ?? [])]
  if (packages.length === 0 && conda === undefined) return 'python3'
  const folder = join(XDG_CACHE_HOME || join(homedir(), '.cache'), 'serving', 'python')
  const spec = JSON.stringify(conda ?? { packages })
  const names = (conda?.dependencies ?? packages).join(', ')
  const begun = Date.now()
  const seconds = () => Math.round((Date.now() - begun) / 1000)
  let told = Number.NEGATIVE_INFINITY
  const onLine = (line: string) => {
    if (report === undefined || Date.now() - told < reportEveryMs) return
    told = Date.now()
    report(`making an environment of Python with ${names} for ${place} (${seconds()} s): ${line}`)
  }
  const { code, output, lines } = await run([program, folder, spec], stopped, onLine)
  if (code === 0) {
    if (lines.length > 0) report?.(`made an environment of Python for ${place} in ${seconds()} s`)
    return output.trim()
  }
  const text = `expected an environment of Python with ${names} for ${place}, which could not be made`
  throw new SetupError('missing_dependency', `${text}:\n${lines.join('\n')}`)
}

async function run(
  args: readonly string[],
  stopped: AbortSignal | undefined,
  onLine: (line: string) => void,
) {
  // A group of its own, with the installer that it starts.
  const child = spawn('python3', args, { stdio: ['ignore', 'pipe', 'pipe'], detached: true })
  const kill = () => killGroup(child)
  stopped?.addEventListener('abort', kill)
  let output = ''
  let errors = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk))
  child.stderr.on('data', (chunk: Buffer) => {
    errors = (errors + chunk).slice(-10_000)
    onLine(errors.trimEnd().split('\n').at(-1) as string)
  })
  return await new Promise<{ code: number; output: string; lines: readonly string[] }>(
    (resolve) => {
      const end = (code: number, text: string) => {
        stopped?.removeEventListener('abort', kill)
        resolve({ code, output, lines: text.trim().split('\n').filter(Boolean).slice(-shownLines) })
      }
      child.once('error', (error) => end(1, startFailure(error)))
      child.once('close', (code) => end(code ?? 1, errors))
    },
  )
}
