/**
 * Compiles the sources into few files, which load faster. Run alone, into dist/: a step of `npm run build`.
 * @module
 */
import { chmodSync, readFileSync, rmSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { transformSync } from 'rolldown/utils'

const root = fileURLToPath(new URL('..', import.meta.url))
const { exports, bin } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const published = [...Object.values(exports).map(({ default: path }) => path), ...Object.values(bin)]
/** Programs and modules that are started or loaded by their path. */
export const byPath = [
  'cli/config/write-schema',
  'cli/child-module',
  'cli/worker',
  'core/modules/typescript-format',
  'jobs/bullmq/lease-thread',
  'jobs/sqlite/store-thread',
  'protocols/oip/remote-model',
  'runner/model-process',
  'runner/model-thread',
  'runner/onnx/model',
  'values/image/pixel-thread',
  'values/table/file-thread',
]
const names = published.flatMap((path) => /^(?:\.\/)?dist\/(.+)\.js$/.exec(path ?? '')?.[1] ?? []).concat(byPath)

/** Lets each source keep the URL of its own file, whichever file of dist/ it is joined to. */
const ownUrl = '@dist/'
const sourceUrls = {
  name: 'source-urls',
  transform(code, id) {
    if (!code.includes('import.meta.url')) return undefined
    const file = relative(join(root, 'src'), id).replaceAll(sep, '/').replace(/\.ts$/, '.js')
    const define = { 'import.meta.url': `new URL('${ownUrl}${file}', import.meta.url).href` }
    return { ...transformSync(id, code, { define, tsconfig: false }), moduleType: 'js' }
  },
  renderChunk(code, { fileName }) {
    const up = '../'.repeat(fileName.split('/').length - 1)
    return code.includes(ownUrl) ? { code: code.replaceAll(ownUrl, up) } : null
  },
}

/** Compiles sources, named without `.ts`, into a folder. */
export async function bundleInto(dir, sources) {
  rmSync(dir, { recursive: true, force: true })
  const bundle = await rolldown({
    cwd: root,
    input: Object.fromEntries(sources.map((name) => [name, join(root, 'src', `${name}.ts`)])),
    // Not of Node: its runtime would import node:module, into the client, too. All packages stay outside either way.
    platform: 'neutral',
    external: /^[^./]/,
    plugins: [sourceUrls],
    tsconfig: false,
  })
  const entryFileNames = '[name].js'
  await bundle.write({ dir, entryFileNames, chunkFileNames: 'chunks/[name].js', comments: false, keepNames: true })
  await bundle.close()
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await bundleInto(join(root, 'dist'), names)
  // npm links the command to it and makes it executable at installation alone, not after a later build.
  for (const path of Object.values(bin)) chmodSync(join(root, path), 0o755)
}
