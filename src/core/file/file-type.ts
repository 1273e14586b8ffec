/** What kind of file some bytes are. The only file that imports file-type, an optional package. @module */
import { MissingDependencyException } from '../errors.ts'

type FileTypes = Pick<typeof import('file-type'), 'fileTypeFromBuffer'>

/**
 * Returns the MIME type by the first bytes of a file; undefined when they identify none, as those of plain text.
 * **Errors**: MissingDependencyException when file-type is not installed.
 */
export async function detectMimeType(
  bytes: Uint8Array,
  neededBy: string,
  // A package of ES modules alone, which `require` does not load on Node 20.
  load: () => Promise<FileTypes> = () => import('file-type'),
): Promise<string | undefined> {
  let fileTypes: FileTypes
  try {
    fileTypes = await load()
  } catch (cause) {
    throw new MissingDependencyException(`${neededBy} needs the package file-type: npm install file-type@21`, { cause })
  }
  return (await fileTypes.fileTypeFromBuffer(bytes))?.mime
}
