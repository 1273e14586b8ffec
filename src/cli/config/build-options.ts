/** The part of the configuration file that says what `serving build` packs. @module */

import type { ValueSchema } from '../../core/value-schema.ts'
import type { CondaPackages } from '../../runner/python/python-options.ts'

/** What to build; all paths are relative to the folder of the configuration file. */
export interface BuildOptions {
  readonly include?: readonly string[]
  readonly exclude?: readonly string[]
  readonly models?: readonly string[]
  /** Packages that the code loads in ways that the build cannot see. */
  readonly packages?: readonly string[]
  readonly envs?: readonly EnvironmentVariable[]
  readonly docker?: DockerOptions
  readonly python?: PythonOptions
  readonly conda?: CondaOptions
}

/** An environment variable of the built service. */
export interface EnvironmentVariable {
  readonly name: string
  readonly value: string
}

/** What the Dockerfile of a build says. */
export interface DockerOptions {
  /**
   * An image with node.
   *
   * @default debian:trixie-slim with the executable of node:24-trixie-slim
   */
  readonly baseImage?: string
  readonly systemPackages?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly setupScript?: string
}

/** Packages for models that run in Python beside the service. */
export interface PythonOptions {
  readonly packages?: readonly string[]
}

/** Packages of conda for models that run in Python beside the service. */
export type CondaOptions = Partial<CondaPackages>

const texts = (description: string): ValueSchema => ({
  type: 'array',
  items: { type: 'string' },
  description,
})
const object = (
  description: string,
  properties: Readonly<Record<string, ValueSchema>>,
): ValueSchema => ({
  type: 'object',
  description,
  additionalProperties: false,
  properties,
})

/** The schema of {@link BuildOptions}. */
export const buildSchema = object('what serving build packs; paths are relative to this file', {
  include: texts('globs of files to pack beside the code'),
  exclude: texts('globs of files that include and models leave out'),
  models: texts('files and folders of models'),
  packages: texts('packages that the code loads in ways that the build cannot see'),
  envs: {
    type: 'array',
    description: 'environment variables of the built service',
    items: object('a variable', { name: { type: 'string' }, value: { type: 'string' } }),
  },
  docker: object('what the Dockerfile says', {
    baseImage: {
      type: 'string',
      description:
        'an image with node; default: debian:trixie-slim with that of node:24-trixie-slim',
    },
    systemPackages: texts('Debian packages'),
    env: {
      type: 'object',
      additionalProperties: { type: 'string' },
      description: 'variables of the image',
    },
    setupScript: {
      type: 'string',
      description: 'a shell script that is run as root while the image is built',
    },
  }),
  python: object('packages for models in Python', {
    packages: texts('requirements as pip reads them'),
  }),
  conda: object('packages for models in Python, by conda', {
    channels: texts('where conda looks, in order (default: conda-forge)'),
    dependencies: texts('packages of conda'),
  }),
})
