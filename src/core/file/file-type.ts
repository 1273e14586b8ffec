/** What kind of file some bytes are. The only file that imports file-type, an optional package. @module */
import { missingPackage } from '../modules/optional.ts'

type FileTypes = Pick<typeof import('file-type'), 'fileTypeFromBuffer'>

/**
 * Detects the MIME type; undefined for unknown bytes, such as text.
 *
 * @throws MissingDependencyException.
 */
export async function detectMimeType(
  bytes: Uint8Array,
  neededBy: string,
  // Node 20 cannot `require` a package of ES modules only.
  load: () => Promise<FileTypes> = () => import('file-type'),
): Promise<string | undefined> {
  let fileTypes: FileTypes
  try {
    fileTypes = await load()
  } catch (error) {
    throw missingPackage('file-type', '^21.0.0', neededBy, error)
  }
  return (await fileTypes.fileTypeFromBuffer(bytes))?.mime
}
