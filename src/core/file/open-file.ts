/** Files on disk as answers of functions. @module */
import { open, realpath, stat } from 'node:fs'
import { isAbsolute, join, relative, sep } from 'node:path'
import { promisify } from 'node:util'
import { NotFound } from '../errors.ts'
import { BinaryFile, type BinaryFileOptions } from './binary-file.ts'
import { extensionType } from './extension-type.ts'
import { DiskFile } from './temp-file.ts'

const openAsync = promisify(open)
const pathOf = promisify(realpath)
const statOf = promisify(stat)

/**
 * Opens a file on disk for an answer, which reads it in pieces. The end of the request closes it.
 *
 * @param ctx - Of the request.
 * @param folder - Where files lie. The function opens nothing outside, also not by a symbolic link.
 * @param name - Name or path within the folder. It may come from the client.
 * @param options - By default the file has no name, and the type of its extension.
 * @throws NotFound.
 * @example
 * `svc.get('films/{name}', { output: new io.File() }, (_, ctx) => openFile(ctx, 'films', ctx.params.name))`
 */
export async function openFile(
  ctx: { onEnd(cleanup: () => void): void },
  folder: string | URL,
  name: string,
  options: BinaryFileOptions = {},
): Promise<BinaryFile> {
  const path = await pathWithin(await pathOf(folder), name)
  const { mtimeMs, ino, size } = await statOf(path)
  const disk = new DiskFile(await openAsync(path, 'r'))
  ctx.onEnd(() => disk.release())
  const mimeType = extensionType(path)
  const state = [size, Math.round(mtimeMs * 1000), ino].map((part) => part.toString(36))
  return BinaryFile.onDisk(
    disk,
    size,
    { ...(mimeType && { mimeType }), ...options },
    { etag: `"${state.join('-')}"`, modifiedAt: mtimeMs },
  )
}

/** To open a pipe would wait for its writer: only files count. */
async function pathWithin(folder: string, name: string): Promise<string> {
  const path = await pathOf(join(folder, name)).catch(() => folder)
  const way = relative(folder, path)
  const isWithin = !isAbsolute(way) && way.split(sep)[0] !== '..'
  if (isWithin && (await statOf(path)).isFile()) return path
  throw new NotFound('there is no such file')
}
