/** What `serving --version` prints. @module */
import { readFileSync } from 'node:fs'
import { nativeStatus } from '../core/native/add-on.ts'
import { loadUws } from '../engine/uws/uws-package.ts'
import { jpegStatus } from '../values/image/image-addon.ts'

/** Returns the versions of the package and of Node, and which engines and native codecs load here, as lines of text. */
export async function versionText(): Promise<string> {
  const { version }: { version: string } = JSON.parse(
    readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
  )
  const uws = loadUws()
  const engines = typeof uws === 'string' ? `node (uws does not load here: ${uws})` : `uws (${uws.origin}), node`
  const native = nativeStatus.loaded
    ? 'native'
    : `TypeScript (${nativeStatus.reason ?? 'the native add-on was not built'})`
  return [
    `serving ${version}`,
    `node ${process.version} ${process.platform} ${process.arch}`,
    `engines: ${engines}`,
    `codec: ${native}`,
    `JPEG: ${jpegStatus.library ?? `@napi-rs/image (${jpegStatus.reason})`}`,
  ].join('\n')
}
