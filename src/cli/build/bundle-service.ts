/** Bundles a service, the modules of its models, and packages. The only file that imports esbuild. @module */
import { existsSync, statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { isBuiltin } from 'node:module'
import { dirname, extname, join, posix, relative, resolve, sep } from 'node:path'
import type { BuildFailure, Loader, Metafile, OutputFile, Plugin } from 'esbuild'
import { InvalidArgument } from '../../core/errors.ts'
import { missingTool } from '../../core/modules/optional.ts'

/** A bundled service; paths are relative to the folder of the project, with `/`. */
export type Bundle = Awaited<ReturnType<typeof bundleService>>

/** An import of a package. */
export interface PackageImport {
  readonly specifier: string
  readonly importer: string
}

/**
 * Bundles a module without its packages; `import.meta.url` stays that of each file.
 *
 * @throws InvalidArgument.
 */
export async function bundleService(root: string, service: string) {
  const { build, stop, transform } = await esbuild()
  const entries = new Set([service])
  try {
    for (;;) {
      const found = { modules: new Set<string>(), assets: new Set<string>() }
      const { outputFiles, metafile } = await build({
        absWorkingDir: root,
        entryPoints: [...entries]
          .sort()
          .map((path) => ({ in: path, out: compiledName(root, path).slice(0, -3) })),
        outdir: root,
        write: false,
        bundle: true,
        splitting: true,
        chunkNames: 'chunks/[hash]',
        format: 'esm',
        platform: 'node',
        target: 'node20.10',
        packages: 'external',
        sourcemap: 'linked',
        sourcesContent: false,
        legalComments: 'none',
        // A function's name is its route.
        keepNames: true,
        // As the command does without a build: a project's `paths` could name a second copy of the framework.
        tsconfigRaw: {},
        metafile: true,
        logLevel: 'silent',
        plugins: [sourceUrls(root, found, transform)],
      })
      const fresh = [...found.modules].filter((path) => !entries.has(path))
      if (fresh.length > 0) {
        for (const path of fresh) entries.add(path)
        continue
      }
      return {
        entry: compiledName(root, service),
        modules: [...entries]
          .filter((path) => path !== service)
          .map((path) => compiledName(root, path))
          .sort(),
        files: new Map(outputFiles.map((file) => compiledFile(root, file))),
        // Named by `new URL('./weights.bin', import.meta.url)`: they stay where they are.
        assets: [...found.assets].map((path) => slashes(relative(root, path))).sort(),
        imports: packageImports(root, metafile),
      }
    }
  } catch (error) {
    throw isBuildFailure(error) ? new InvalidArgument(failureText(error)) : error
  } finally {
    // Or its process would keep this one from ending.
    await stop()
  }
}

/** What every server requires of packages of CommonJS that have many files, by the place of the one file. */
const required = {
  'commander/index': 'commander',
  'cookie/index': 'cookie',
  'flatbuffers/index': 'flatbuffers',
  'pino/index': 'pino',
  'protobufjs-8/minimal': 'protobufjs-8/minimal.js',
}

/**
 * Joins packages to a file each, since a file takes Node longer than its code.
 *
 * @returns the files, relative to the folder of `serving`, in which they lie.
 */
export async function joinPackages(folder: string) {
  const { build, stop } = await esbuild()
  try {
    const { outputFiles } = await build({
      absWorkingDir: folder,
      entryPoints: required,
      outdir: join(folder, 'node_modules'),
      write: false,
      bundle: true,
      format: 'cjs',
      platform: 'node',
      target: 'node20.10',
      legalComments: 'inline',
      // protobufjs's numbers of 64 bits do without, and starting it takes longer than all else.
      define: { WebAssembly: 'undefined' },
      logLevel: 'silent',
    })
    return outputFiles.map(({ path, text }) => ({ file: slashes(relative(folder, path)), text }))
  } finally {
    await stop()
  }
}

async function esbuild() {
  return await import('esbuild').catch((error: unknown) => {
    throw missingTool('esbuild', 'serving build', error)
  })
}

function compiledName(root: string, path: string): string {
  const name = slashes(relative(root, path))
  if (name.startsWith('../'))
    throw new InvalidArgument(`${path} lies outside of ${root}, the folder of the project`)
  return `${name.slice(0, -extname(name).length)}.js`
}

const slashes = (path: string) => path.replaceAll(sep, '/')
const hex = (text: string) => Buffer.from(text).toString('hex')
const marker = /__serving_(url|dirname|filename)_([0-9a-f]+)/g

/** Puts a marker for `import.meta.url` of each file, since a bundle has one, and finds files that are named by it. */
function sourceUrls(
  root: string,
  found: { readonly modules: Set<string>; readonly assets: Set<string> },
  transform: typeof import('esbuild').transform,
): Plugin {
  return {
    name: 'source-urls',
    setup(build) {
      build.onLoad({ filter: /\.[cm]?[jt]sx?$/ }, async ({ path }) => {
        const text = await readFile(path, 'utf8')
        if (!text.includes('import.meta')) return undefined
        const name = hex(slashes(relative(root, path)))
        const { code } = await transform(text, {
          loader: extname(path).replace(/^\.[cm]?/, '') as Loader,
          sourcefile: path,
          sourcemap: 'inline',
          sourcesContent: false,
          target: 'node20.10',
          keepNames: true,
          tsconfigRaw: {},
          define: Object.fromEntries(
            ['url', 'dirname', 'filename'].map((member) => [
              `import.meta.${member}`,
              `__serving_${member}_${name}`,
            ]),
          ),
        })
        const contents = code.replace(
          /(new URL\(\s*)"(\.{1,2}\/[^"\n]+)"(?=,\s*__serving_url_)/g,
          (all, before: string, specifier: string) => {
            const target = resolve(dirname(path), specifier)
            if (!existsSync(target)) {
              throw new InvalidArgument(
                `${relative(process.cwd(), path)}: there is no file ${specifier}`,
              )
            }
            if (!statSync(target).isFile()) return all
            if (!/\.[cm]?[jt]s$/.test(target)) {
              found.assets.add(target)
              return all
            }
            found.modules.add(target)
            return `${before}"${specifier.slice(0, -extname(specifier).length)}.js"`
          },
        )
        return { contents, loader: 'js', resolveDir: dirname(path) }
      })
    },
  }
}

function compiledFile(root: string, { path, text }: OutputFile): [string, string] {
  const name = slashes(relative(root, path))
  const up = '../'.repeat(name.split('/').length - 1) || './'
  const url = (file: string) => `new URL(${JSON.stringify(up + encodeURI(file))}, import.meta.url)`
  let usesPaths = false
  const code = text.replace(marker, (_, member: string, encoded: string) => {
    const file = Buffer.from(encoded, 'hex').toString()
    if (member === 'url') return `${url(file)}.href`
    usesPaths = true
    return `__servingPath(${url(member === 'dirname' ? posix.dirname(file) : file)})`
  })
  // On the first line, so that source maps still tell the right ones.
  return [
    name,
    usesPaths ? `import { fileURLToPath as __servingPath } from "node:url"; ${code}` : code,
  ]
}

const esbuildRuntime = '<runtime>'

function packageImports(root: string, { inputs }: Metafile): PackageImport[] {
  return Object.entries(inputs).flatMap(([file, { imports }]) =>
    imports
      .filter(
        ({ external, path }) => external === true && path !== esbuildRuntime && !isBuiltin(path),
      )
      .map(({ path }) => ({ specifier: path, importer: join(root, file) })),
  )
}

function isBuildFailure(error: unknown): error is BuildFailure {
  return error instanceof Error && Array.isArray((error as Partial<BuildFailure>).errors)
}

function failureText({ errors }: BuildFailure): string {
  const texts = errors.slice(0, 10).map(({ text, location, detail }) => {
    if (detail instanceof InvalidArgument) return detail.message
    return location === null
      ? text
      : `${location.file}:${location.line}:${location.column + 1}: ${text}`
  })
  return texts.join('\n')
}
