/** Options of a Runner whose model is Python. @module */
import { isAbsolute, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expected, InvalidArgument } from '../../core/errors.ts'
import { checkAtLeast, checkOptions, checkThat } from '../../core/options.ts'
import { type RunnerOptions, runnerOptionNames } from '../runner-options.ts'

/** Options of a {@link Runner} whose model is a class or functions in a file of Python. */
export interface PythonOptions<M = unknown>
  extends Omit<RunnerOptions<M>, 'module' | 'isolation' | 'init' | 'python'> {
  /** The file: a URL, as of `new URL('./model.py', import.meta.url)`, or a path. */
  readonly python: URL | string
  /**
   * The class of the model.
   *
   * @default `Model` if the file has it
   */
  readonly className?: string
  /** Arguments of the class by name. */
  readonly init?: Readonly<Record<string, unknown>>
  /** Packages as pip reads them. uv or pip makes an environment once, below `~/.cache/serving/python`. */
  readonly packages?: readonly string[]
  /** Conda packages: micromamba, mamba or conda makes the environment. */
  readonly conda?: CondaPackages
  /**
   * A Python that has all packages, as `venv/bin/python`.
   *
   * @default `SERVING_PYTHON`; `python3`
   */
  readonly executable?: string
  readonly module?: never
}

/** Packages of conda. */
export interface CondaPackages {
  /**
   * Channels in order; `nodefaults` for no others.
   *
   * @default conda-forge
   */
  readonly channels?: readonly string[]
  readonly dependencies: readonly string[]
}

/** Where the Python of a runner comes from: one of the three, or `SERVING_PYTHON`. */
export interface PythonSettings {
  readonly executable: string | undefined
  readonly packages: readonly string[] | undefined
  readonly conda: CondaPackages | undefined
}

const optionNames = [
  'python',
  'className',
  'packages',
  'conda',
  'executable',
  ...runnerOptionNames,
].filter((name) => name !== 'module' && name !== 'isolation')

/**
 * Checks the options of a Python model.
 *
 * @throws InvalidArgument.
 */
export function pythonRunnerOptions(
  name: string,
  options: PythonOptions,
): { readonly own: RunnerOptions; readonly python: PythonSettings } {
  const place = `the runner ${name}`
  const given = checkOptions(place, options, optionNames)
  const { python: file, className = '', packages, conda, executable, threads = 1, ...rest } = given
  checkAtLeast(`threads of ${place}`, threads, 1)
  if (packages !== undefined) requireTexts(packages, `packages of ${place}`)
  if (conda !== undefined) {
    checkOptions(`conda of ${place}`, conda, ['channels', 'dependencies'])
    requireTexts(conda.channels ?? [], `channels of ${place}`)
    requireTexts(conda.dependencies, `dependencies of ${place}`)
  }
  const sources = [packages, conda, executable].filter((value) => value !== undefined).length
  if (sources > 1) {
    throw new InvalidArgument(
      `expected one of packages, conda and executable for ${place}, received ${sources}`,
    )
  }
  const isPath = typeof executable === 'string' && executable !== ''
  checkThat(executable === undefined || isPath, 'a path', `executable of ${place}`, executable)
  const module = fileOf(file, place)
  module.hash = className
  return {
    own: { ...rest, threads, module, isolation: 'process' } as unknown as RunnerOptions,
    python: { executable, packages, conda },
  }
}

function fileOf(file: unknown, place: string): URL {
  if (file instanceof URL && file.protocol === 'file:') return new URL(file)
  if (typeof file === 'string' && file !== '') {
    return file.startsWith('file://')
      ? new URL(file)
      : pathToFileURL(isAbsolute(file) ? file : resolve(file))
  }
  const what = "a file URL such as new URL('./model.py', import.meta.url), or a path,"
  throw new InvalidArgument(expected(what, `python of ${place}`, file))
}

function requireTexts(value: unknown, place: string): void {
  const ok =
    Array.isArray(value) && value.every((item) => typeof item === 'string' && /^\S/.test(item))
  checkThat(ok, 'a list of requirements', place, value)
}
