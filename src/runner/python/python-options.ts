/** Options of a Runner whose model is Python. @module */
import { resolve } from 'node:path'
import { InvalidArgument } from '../../core/errors.ts'
import {
  checkedLater,
  listOf,
  type OptionsOf,
  plain,
  readOptions,
  text,
  whole,
} from '../../core/option.ts'
import { checkThat } from '../../core/options.ts'
import { anyRunnerOptions, fileUrl, type RunnerOptions } from '../runner-options.ts'

const requirements = listOf<string>(
  'a list of requirements',
  (item) => typeof item === 'string' && /^\S/.test(item),
)

/** Packages of conda. */
export const condaOptions = {
  /**
   * Channels in order; `nodefaults` for no others.
   *
   * @default conda-forge
   */
  channels: requirements,
  dependencies: requirements.required(),
}

/** The options of a {@link Runner} whose model is Python. */
export const pythonOptions = {
  ...anyRunnerOptions,
  threads: whole(1).or(1),
  /** The file: a URL, as of `new URL('./model.py', import.meta.url)`, or a path. */
  python: checkedLater<URL | string>().required(),
  /**
   * The class of the model.
   *
   * @default `Model` if the file has it
   */
  className: plain<string>({ type: 'string' }).or(''),
  /** Arguments of the class by name. */
  init: checkedLater<Readonly<Record<string, unknown>>>(),
  /** Packages as pip reads them. uv or pip makes an environment once, below `~/.cache/serving/python`. */
  packages: requirements,
  /** Conda packages: micromamba, mamba or conda makes the environment. */
  conda: checkedLater<CondaPackages>(),
  /**
   * A Python that has all packages, as `venv/bin/python`.
   *
   * @default `SERVING_PYTHON`; `python3`
   */
  executable: text('<path>', 'a path'),
}

/** Packages of conda. */
export interface CondaPackages extends OptionsOf<typeof condaOptions> {}

/** Options of a {@link Runner} whose model is a class or functions in a file of Python. */
export interface PythonOptions<M = unknown>
  extends Omit<OptionsOf<typeof pythonOptions>, 'methods' | 'warmup'>,
    Pick<RunnerOptions<M>, 'methods' | 'warmup'> {
  readonly module?: never
}

/** Where the Python of a runner comes from: one of the three, or `SERVING_PYTHON`. */
export interface PythonSettings {
  readonly executable: string | undefined
  readonly packages: readonly string[] | undefined
  readonly conda: CondaPackages | undefined
}

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
  const settings = readOptions(place, options, pythonOptions)
  const { python: file, className, packages, conda, executable, ...rest } = settings
  if (conda !== undefined) readOptions(`conda of ${place}`, conda, condaOptions)
  const sources = [packages, conda, executable].filter((value) => value !== undefined).length
  if (sources > 1) {
    throw new InvalidArgument(
      `expected one of packages, conda and executable for ${place}, received ${sources}`,
    )
  }
  const isPath = typeof file === 'string' && file !== '' && !file.startsWith('file://')
  const module = fileUrl(isPath ? resolve(file) : file)
  const what = "a file URL such as new URL('./model.py', import.meta.url), or a path,"
  checkThat(module !== undefined, what, `python of ${place}`, file)
  module.hash = className
  return {
    own: { ...rest, module, isolation: 'process' },
    python: { executable, packages, conda },
  }
}
