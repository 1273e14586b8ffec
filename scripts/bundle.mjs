/**
 * Compiles the sources into few files, which load faster. Run alone, into dist/: a step of `npm run build`.
 * @module
 */
import { chmodSync, existsSync, readFileSync, rmSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { transformSync } from 'rolldown/utils'

const root = fileURLToPath(new URL('..', import.meta.url))
const { exports, bin } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const published = [
  ...Object.values(exports).map(({ node, default: path }) => node ?? path),
  ...Object.values(bin),
]
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
/** Programs whose modules are joined as if they were one: they run together, or load nearly the same. */
const together = [
  [
    'index',
    'api/auth/index',
    'cli/worker-program',
    'docs/openapi/docs-endpoint',
    'docs/page-data',
    'docs/page-endpoints',
    'protocols/oip/protocol',
    'protocols/openai/index',
    'rpc/connect',
    'rpc/service-methods',
    'runner/model-pool',
    'runner/onnx/index',
    'runner/split',
    'server/telemetry/telemetry',
    'testing/index',
  ],
  [
    'runner/model-thread',
    'runner/model-process',
    'runner/onnx/model',
    'protocols/oip/remote-model',
  ],
  ['values/image/pixel-thread', 'values/table/file-thread'],
  ['jobs/sqlite/store-thread', 'jobs/bullmq/lease-thread'],
  [
    'cli/program',
    'cli/serve-command',
    'cli/settings',
    'cli/config/write-schema',
    'cli/child-module',
  ],
]
/** What a server loads at its start, and the process that starts it. */
const starts = [
  'index',
  'cli/worker-program',
  'cli/program',
  'cli/serve-command',
  'server/workers/first-worker',
]
/** What every server and the process that starts it import once they start. */
const onceStarted = [
  'cli/settings',
  'docs/openapi/docs-endpoint',
  'docs/page-data',
  'docs/page-endpoints',
  'protocols/oip/protocol',
  'rpc/connect',
  'rpc/service-methods',
  'server/telemetry/telemetry',
]

/** What one of these loads, and others do, is joined where it is less than this: a file takes Node longer than it. */
const joiners = ['cli/program', 'jobs/sqlite/store-thread']
const smallBytes = 24 * 1024
/** What these load is theirs: one runs in browsers, the others before all else. */
const aloneFirst = /client\/|cli\/worker|first-worker/

const names = published
  .flatMap((path) => /^(?:\.\/)?dist\/(.+)\.js$/.exec(path ?? '')?.[1] ?? [])
  .concat(byPath)

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

const commonJs =
  'commander|cookie|flatbuffers|pino|protobufjs-8/minimal.js|node:(?!module")[a-z\\d/_]+'
const commonJsImport = new RegExp(`^import (?:\\* as )?(.+) from "(${commonJs})";`, 'gm')
const ownRequire =
  'import { createRequire as requireOf } from "node:module";\nconst requireFrom = requireOf(import.meta.url);\n'

/** Requires Node's modules and packages of CommonJS: for their imports Node lists the names of their members. */
const requiredPackages = {
  name: 'required-packages',
  renderChunk(code) {
    const required = code.replace(commonJsImport, (_, names, path) => {
      return `const ${names.replaceAll(' as ', ': ')} = requireFrom("${path}");`
    })
    return required === code ? null : { code: ownRequire + required }
  },
}

/** Takes the file for browsers and Workers, `x.web.ts`, where one stands beside `x.ts`. */
const forWeb = {
  name: 'for-web',
  async resolveId(source, importer, options) {
    const resolved = await this.resolve(source, importer, { ...options, skipSelf: true })
    const id = resolved?.id.replace(/\.ts$/, '.web.ts')
    return id !== undefined && resolved.external === false && existsSync(id) ? id : resolved
  },
}

/**
 * Compiles `serving/io` for browsers and Workers into a folder: files like the sources, so that bundlers drop what is
 * not used.
 */
export async function bundleForWeb(dir) {
  const bundle = await rolldown({
    ...options,
    input: join(root, 'src/io/index.ts'),
    plugins: [forWeb],
  })
  await bundle.write({
    dir,
    preserveModules: true,
    preserveModulesRoot: join(root, 'src'),
    ...output,
  })
  await bundle.close()
}

const options = {
  cwd: root,
  // Not of Node: its runtime would import node:module, into the client, too. All packages stay outside either way.
  platform: 'neutral',
  external: /^[^./]/,
  tsconfig: false,
}
const output = { entryFileNames: '[name].js', comments: false, keepNames: true }

/**
 * Joins what a server loads at its start, since a file takes Node longer than its code. Modules that other programs
 * load as well stay apart.
 */
function joinedAtStart(programs) {
  let names
  return (id, modules) => {
    names ??= namesOf([...new Set([...starts, ...onceStarted, ...programs])], modules)
    return names.get(id) ?? null
  }
}

function namesOf(programs, modules) {
  const entries = programs.map(sourceOf)
  const placeOf = (name) => together.find((names) => names.includes(name))?.[0] ?? name
  const places = programs.map(placeOf)
  const loadedBy = new Map()
  for (const [i, entry] of entries.entries()) {
    const waiting = [entry]
    for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
      const earlier = loadedBy.get(id) ?? []
      if (earlier.at(-1) === i) continue
      waiting.push(...(modules.getModuleInfo(id)?.importedIds ?? []))
      loadedBy.set(id, [...earlier, i])
    }
  }
  // They may await what they import later, and that would wait for them.
  for (const [i, entry] of entries.entries())
    if (!onceStarted.includes(programs[i])) loadedBy.delete(entry)
  const joined = [...loadedBy]
    .filter(([, [first]]) => first < starts.length + onceStarted.length)
    .map(([id, by]) => [id, String([...new Set(by.map((i) => places[i]))].sort())])
  const bytes = new Map()
  for (const [id, key] of joined)
    bytes.set(key, (bytes.get(key) ?? 0) + (modules.getModuleInfo(id)?.code?.length ?? 0))
  const groupOf = (key) => {
    const isSmall = bytes.get(key) <= smallBytes && !aloneFirst.test(key)
    const joiner = isSmall && joiners.find((program) => key.includes(program))
    return joiner ? `with ${joiner}` : key
  }
  const groups = [...new Set(joined.map(([, key]) => groupOf(key)))]
  return new Map(joined.map(([id, key]) => [id, `start${groups.indexOf(groupOf(key))}`]))
}

const sourceOf = (name) => join(root, 'src', `${name}.ts`)

/** Compiles sources, named without `.ts`, into a folder. */
export async function bundleInto(dir, sources) {
  rmSync(dir, { recursive: true, force: true })
  const input = Object.fromEntries(sources.map((name) => [name, sourceOf(name)]))
  const bundle = await rolldown({
    ...options,
    input,
    preserveEntrySignatures: 'allow-extension',
    plugins: [sourceUrls, requiredPackages],
  })
  const groups = [{ name: joinedAtStart(sources), debugName: 'start' }]
  const codeSplitting = { includeDependenciesRecursively: false, groups }
  await bundle.write({ dir, chunkFileNames: 'chunks/[name].js', codeSplitting, ...output })
  await bundle.close()
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await bundleInto(join(root, 'dist'), names)
  await bundleForWeb(join(root, 'dist/web'))
  // npm links the command to it and makes it executable at installation alone, not after a later build.
  for (const path of Object.values(bin)) chmodSync(join(root, path), 0o755)
}
