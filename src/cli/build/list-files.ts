/** Lists files by globs. The only file that imports tinyglobby. @module */
import { glob } from 'tinyglobby'

/**
 * @returns the files below a folder that match a glob and not `exclude`, relative with `/`, sorted.
 */
export async function listFiles(
  folder: string,
  include: readonly string[],
  exclude: readonly string[] = [],
): Promise<string[]> {
  const found = await glob([...include], {
    cwd: folder,
    ignore: [...exclude],
    dot: true,
    expandDirectories: false,
    followSymbolicLinks: false,
  })
  return found.sort()
}
