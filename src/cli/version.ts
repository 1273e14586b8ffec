/** What `serving --version` prints. @module */
import { nativeStatus } from '../core/native/add-on.ts'
import { packageVersion } from '../core/package-version.ts'
import { loadUws } from '../engine/uws/uws-package.ts'
import { jpegStatus } from '../values/image/image-addon.ts'

/**
 * @returns the versions of the package and of Node, and which engines and native codecs load here,
 * as lines of text.
 */
export function versionText(): string {
  const uws = loadUws()
  const engines =
    typeof uws === 'string' ? `node (uws does not load here: ${uws})` : `uws (${uws.origin}), node`
  const native = nativeStatus.loaded
    ? 'native'
    : `TypeScript (${nativeStatus.reason ?? 'the native add-on was not built'})`
  return [
    `serving ${packageVersion}`,
    `node ${process.version} ${process.platform} ${process.arch}`,
    `engines: ${engines}`,
    `codec: ${native}`,
    `JPEG: ${jpegStatus.library ?? `@napi-rs/image (${jpegStatus.reason})`}`,
  ].join('\n')
}
