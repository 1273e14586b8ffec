/** Reads what a build packs: the build part of the configuration file, or a bentofile. @module */
import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { InvalidArgument } from '../../core/errors.ts'
import type { ValueSchema } from '../../core/value-schema.ts'
import { type BuildOptions, buildSchema } from '../config/build-options.ts'
import { checkValue } from '../config/check-value.ts'
import { type ConfigFile, readPlain } from '../config/config-file.ts'
import { projectFiles, projectFolder, shownPath } from '../folders.ts'

/** A project to build. */
export interface Project {
  readonly root: string
  readonly service: string
  readonly build: BuildOptions
}

const bentofiles = ['bentofile.yaml', 'bentofile.yml']

/**
 * @returns the project of a service, or that of a bentofile in the working directory.
 * @throws InvalidArgument.
 */
export async function readProject(
  service: string | undefined,
  config: ConfigFile | undefined,
): Promise<Project> {
  const folder = service === undefined ? process.cwd() : dirname(service)
  const [bentofile] = projectFiles(folder, bentofiles)
  if (config?.build !== undefined && bentofile !== undefined) {
    const name = shownPath(bentofile)
    throw new InvalidArgument(`${config.name} and ${name} both say what to build: keep one of them`)
  }
  if (bentofile !== undefined) return await readBentofile(bentofile, service)
  if (service === undefined) {
    throw new InvalidArgument(
      'name the service: serving build FILE, or service in serving.config or bentofile.yaml',
    )
  }
  const root = config === undefined ? (projectFolder(folder) ?? folder) : dirname(config.path)
  return { root, service, build: config?.build ?? {} }
}

async function readBentofile(path: string, service: string | undefined): Promise<Project> {
  const name = shownPath(path)
  const value = await readPlain(path, name)
  checkValue(value, bentofileSchema, name)
  const { service: named, ...build } = value as Bentofile
  // `service.ts:svc` names an object of the module; ours is always its default export.
  const file =
    service ??
    (named === undefined ? undefined : resolve(dirname(path), named.replace(/:\w+$/, '')))
  if (file === undefined) throw new InvalidArgument(`${name}: service is missing`)
  if (file.endsWith('.py') || !/\.m?[jt]s$/.test(file)) {
    throw new InvalidArgument(
      `${name}: service: expected a .ts, .mts, .js or .mjs file, received ${named ?? file}`,
    )
  }
  if (!existsSync(file))
    throw new InvalidArgument(`${name}: service: there is no file ${named ?? file}`)
  const { docker = {} } = build
  const {
    base_image: baseImage,
    system_packages: systemPackages,
    setup_script: setupScript,
    env,
  } = docker
  return {
    root: dirname(path),
    service: file,
    build: { ...build, docker: { baseImage, systemPackages, setupScript, env } },
  }
}

interface Bentofile extends Omit<BuildOptions, 'docker'> {
  readonly service?: string
  readonly docker?: {
    readonly base_image?: string
    readonly system_packages?: readonly string[]
    readonly setup_script?: string
    readonly env?: Readonly<Record<string, string>>
  }
}

const {
  packages: _,
  docker,
  ...common
} = buildSchema.properties as Readonly<Record<string, ValueSchema>>
const { baseImage, systemPackages, setupScript, env } = docker.properties as Readonly<
  Record<string, ValueSchema>
>

/**
 * The keys of a bentofile that are understood.
 *
 * @see BentoML 1.1 and 1.4, bentofile.yaml.
 */
const bentofileSchema: ValueSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    service: { type: 'string' },
    ...common,
    docker: {
      type: 'object',
      additionalProperties: false,
      properties: {
        base_image: baseImage,
        system_packages: systemPackages,
        setup_script: setupScript,
        env,
      },
    },
  },
}
