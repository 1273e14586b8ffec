/** Triton's model repository: `name/version/model.onnx`. KServe mounts one model at `/mnt/models`. @module */
import { readdir, readFile, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { BadInput } from '../../core/errors.ts'
import { parseTextMessage, type TextMessage, type TextValue } from './pbtxt.ts'
import { shown } from './tensor.ts'

/** A version of a model on disk. */
export type ModelFile = Awaited<ReturnType<typeof modelFile>>

/** A model on disk. */
export type ModelFolder = Awaited<ReturnType<typeof readModelFolder>>

/**
 * `only`: name for a folder that is one model.
 *
 * @returns the folders of the models by name.
 */
export async function modelFolders(
  folder: string,
  only: string,
): Promise<ReadonlyMap<string, string>> {
  const entries = await readdir(folder)
  if (entries.some((name) => name === 'model.onnx' || isVersion(name)))
    return new Map([[only, folder]])
  const names = entries.filter((name) => !name.startsWith('.'))
  return new Map(names.map((name) => [name, join(folder, name)]))
}

function isVersion(name: string): boolean {
  return /^\d+$/.test(name)
}

/**
 * `versions` by `version_policy`; by default the greatest.
 *
 * @throws InvalidArgument; BadInput without a version; those of the disk.
 */
export async function readModelFolder(folder: string, name: string) {
  const entries = await readdir(folder)
  const config: TextMessage = entries.includes('config.pbtxt')
    ? parseTextMessage(
        await readFile(join(folder, 'config.pbtxt'), 'utf8'),
        `config.pbtxt of ${name}`,
      )
    : {}
  const named = firstAt(config, 'default_model_filename')
  const file = typeof named === 'string' ? named : 'model.onnx'
  const found: ModelFile[] = []
  if (entries.includes(file)) found.push(await modelFile('1', join(folder, file)))
  for (const version of entries.filter(isVersion)) {
    const path = join(folder, version, file)
    const exists = await stat(path).then(
      () => true,
      () => false,
    )
    if (exists) found.push(await modelFile(version, path))
  }
  found.sort((a, b) => Number(b.version) - Number(a.version))
  const versions = selectVersions(found, config)
  if (versions.length === 0)
    throw new BadInput(`expected a file model.onnx for ${shown(name)}, found none`)
  const isBatched = firstAt(config, 'dynamic_batching') !== undefined
  const delay = firstAt(config, 'dynamic_batching', 'max_queue_delay_microseconds')
  return {
    name,
    versions,
    maxBatchSize: isBatched ? Number(firstAt(config, 'max_batch_size') ?? 0) : 0,
    maxWaitMs: Number(delay ?? 0) / 1000,
    config,
  }
}

async function modelFile(version: string, path: string) {
  const { mtimeMs, size, ino } = await stat(path)
  return { version, path, signature: `${mtimeMs} ${size} ${ino}` }
}

function selectVersions(found: readonly ModelFile[], config: TextMessage): readonly ModelFile[] {
  if (firstAt(config, 'version_policy', 'all') !== undefined) return found
  const specific = firstAt(config, 'version_policy', 'specific')
  if (typeof specific === 'object') {
    const versions = (specific.versions ?? []).map(String)
    return found.filter(({ version }) => versions.includes(version))
  }
  return found.slice(0, Number(firstAt(config, 'version_policy', 'latest', 'num_versions') ?? 1))
}

/** @returns the first value of a field of fields, each the first of its name. */
function firstAt(message: TextMessage, ...names: readonly string[]): TextValue | undefined {
  return names.reduce<TextValue | undefined>(
    (value, name) => (typeof value === 'object' ? value[name]?.[0] : undefined),
    message,
  )
}

/** @returns the bytes of a file and of those beside it, which may have its weights. */
export async function bytesBeside(path: string): Promise<number> {
  const folder = dirname(path)
  const entries = await readdir(folder, { withFileTypes: true })
  const files = entries.filter((entry) => !entry.isDirectory())
  const stats = await Promise.all(files.map(({ name }) => stat(join(folder, name))))
  return stats.reduce((sum, { size }) => sum + size, 0)
}
