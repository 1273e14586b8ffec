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
  const file = textOf(config.default_model_filename) ?? 'model.onnx'
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
  const batching = config.dynamic_batching?.[0]
  const maxWaitMs = isMessage(batching)
    ? Number(batching.max_queue_delay_microseconds?.[0] ?? 0) / 1000
    : 0
  return {
    name,
    versions,
    maxBatchSize: batching === undefined ? 0 : Number(config.max_batch_size?.[0] ?? 0),
    maxWaitMs,
    config,
  }
}

async function modelFile(version: string, path: string) {
  const { mtimeMs, size, ino } = await stat(path)
  return { version, path, signature: `${mtimeMs} ${size} ${ino}` }
}

function selectVersions(found: readonly ModelFile[], config: TextMessage): readonly ModelFile[] {
  const policy = config.version_policy?.[0]
  if (!isMessage(policy)) return found.slice(0, 1)
  if (policy.all !== undefined) return found
  const specific = policy.specific?.[0]
  if (isMessage(specific)) {
    const versions = (specific.versions ?? []).map(String)
    return found.filter(({ version }) => versions.includes(version))
  }
  const latest = policy.latest?.[0]
  return found.slice(0, isMessage(latest) ? Number(latest.num_versions?.[0] ?? 1) : 1)
}

function isMessage(value: TextValue | undefined): value is TextMessage {
  return typeof value === 'object'
}

function textOf(values: readonly TextValue[] | undefined): string | undefined {
  const [value] = values ?? []
  if (typeof value === 'string') return value
  return undefined
}

/** @returns the bytes of a file and of those beside it, which may have its weights. */
export async function bytesBeside(path: string): Promise<number> {
  const folder = dirname(path)
  const entries = await readdir(folder, { withFileTypes: true })
  const files = entries.filter((entry) => !entry.isDirectory())
  const stats = await Promise.all(files.map(({ name }) => stat(join(folder, name))))
  return stats.reduce((sum, { size }) => sum + size, 0)
}
