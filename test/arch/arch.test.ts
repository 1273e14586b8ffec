import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import * as serving from 'serving'
import { describe, expect, it } from 'vitest'
import {
  abstractDescriptor,
  browserFiles,
  composition,
  emptyNames,
  functionCallers,
  ioNames,
  jsonReaders,
  mayImport,
  moduleLets,
  packageOwners,
  pixelThread,
  pixelWalkers,
  publicNames,
} from './rules.ts'

const root = new URL('../../', import.meta.url)
const read = (file: string) => readFileSync(new URL(file, root), 'utf8')

// Tracked and new files alike, so that a file is checked before it is committed.
const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => file !== '')
const code = files.filter(
  (file) =>
    /^(src|native|bench|test|examples)\/.*\.(ts|mjs|cpp|h)$/.test(file) &&
    !file.startsWith('src/messages/gen/'),
)
// Sources of every language. Generated: src/messages/gen, the declarations of openapi-typescript.
const written = files.filter(
  (file) =>
    (/\.(ts|mts|mjs|cpp|h|py|proto|fbs|rs|go|java|lua|sh|css|html|gyp|toml|ya?ml)$|^\.ci\//.test(
      file,
    ) ||
      posix.basename(file) === 'Dockerfile') &&
    !/^src\/messages\/gen\/|\.d\.mts$/.test(file),
)
const sources = files.filter(
  (file) => /^src\/.*\.ts$/.test(file) && !file.startsWith('src/messages/gen/'),
)

interface Import {
  readonly from: string
  readonly to: string
}

const importPatterns = [
  /^(?:import|export)\b[^'"]*?from\s+['"]([^'"]+)['"]/gm,
  /^import\s+['"]([^'"]+)['"]/gm,
  /\bimport\(\s*['"]([^'"]+)['"]\s*\)/gm,
  /\bloadOptional(?:<[^(]*>)?\(\s*['"]([^'"]+)['"]/gm,
]

/** Returns every import and re-export of a file; `from` and relative `to` are paths below src. */
function importsOf(file: string): Import[] {
  const text = read(file)
  const from = file.slice('src/'.length)
  const specifiers = importPatterns.flatMap((pattern) => [...text.matchAll(pattern)])
  return specifiers.map(([, specifier]) => {
    return {
      from,
      to: specifier.startsWith('.') ? posix.join(posix.dirname(from), specifier) : specifier,
    }
  })
}

const imports = sources.flatMap(importsOf)
const room = (path: string) => path.split('/')[0]
/** The files that are loaded with these, without those that are imported later. */
function loadedWith(...entries: readonly string[]): string[] {
  const valueImport =
    /^(?:import|export) (?!type )(?:[^'"=;()]*?\sfrom\s+)?['"](\.{1,2}\/[^'"]+\.ts)['"]/gm
  const loaded = new Set(entries)
  for (const file of loaded)
    for (const [, to] of read(`src/${file}`).matchAll(valueImport))
      loaded.add(posix.join(posix.dirname(file), to))
  return [...loaded]
}

const isOurs = (path: string) =>
  (room(path) in mayImport || path === 'index.ts') && path.endsWith('.ts')

describe('the architecture', () => {
  it('finds the sources and their imports', () => {
    expect(sources.length).toBeGreaterThan(20)
    expect(imports).toContainEqual({ from: 'api/call.ts', to: 'core/errors.ts' })
  })

  it('has at most 20 rooms, and a rule for each', () => {
    const rooms = new Set(sources.map((file) => room(file.slice(4))))
    rooms.delete('index.ts')
    expect([...rooms].sort()).toEqual(Object.keys(mayImport).sort())
    expect([...rooms].filter((name) => !name.endsWith('.ts')).length).toBeLessThanOrEqual(20)
  })

  it('is the one that CONTRIBUTING.md describes, which names files that are there', () => {
    const text = read('CONTRIBUTING.md')
    const described = [...text.matchAll(/^\| `src\/([\w.-]+)\/?` \|/gm)].map(([, name]) => name)
    expect(described).toEqual([...Object.keys(mayImport), 'index.ts'])
    const named = [...text.matchAll(/(?<![\w./-])\w[\w./-]*\.(?:ts|mjs|py|cpp|sh|proto)\b/g)].map(
      ([path]) => path,
    )
    expect(named.filter((path) => !files.some((file) => `/${file}`.endsWith(`/${path}`)))).toEqual(
      [],
    )
  })

  it('lets a room import only those that its rule names, which stand before it', () => {
    const order = Object.keys(mayImport)
    const wrong = order.filter((name, i) =>
      mayImport[name]?.some((other) => !order.slice(0, i).includes(other)),
    )
    expect(wrong).toEqual([])
    const allowed = ({ from, to }: Import) =>
      from === 'index.ts' || room(from) === room(to) || mayImport[room(from)]?.includes(room(to))
    expect(imports.filter((edge) => isOurs(edge.to) && !allowed(edge))).toEqual([])
  })

  it('keeps concrete descriptors out of service, engines, RPC, documents and server', () => {
    const wrong = imports.filter(
      ({ from, to }) =>
        ['service-options.ts', 'service.ts', 'engine', 'rpc', 'docs', 'server'].includes(
          room(from),
        ) &&
        room(to) === 'descriptors' &&
        !abstractDescriptor.includes(to),
    )
    expect(wrong).toEqual([])
  })

  it('lets one file of the server name the protocols', () => {
    const isProtocol = (to: string) =>
      room(to) === 'protocols' || /^(rpc\/(service-methods|connect)|docs\/page-)/.test(to)
    const users = imports.filter(
      ({ from, to }) => ['engine', 'server', 'cli'].includes(room(from)) && isProtocol(to),
    )
    expect(new Set(users.map(({ from }) => from))).toEqual(new Set([composition]))
  })

  it('has one way to a function: nobody else has its key', () => {
    const users = imports.filter(({ to }) => to === 'api/function-of.ts').map(({ from }) => from)
    expect([...new Set(users)].toSorted()).toEqual([...functionCallers].toSorted())
  })

  it('reads JSON of requests within bounds: other files that call JSON.parse are listed', () => {
    const rooms = ['api', 'descriptors', 'docs', 'engine', 'io', 'jobs', 'live', 'protocols', 'rpc']
    const isServing = (path: string) =>
      [...rooms, 'server', 'service.ts'].includes(room(path)) && !path.startsWith('docs/page/')
    const readers = sources
      .filter((file) => isServing(file.slice(4)))
      .filter((file) =>
        read(file)
          .split('\n')
          .some((line) => /\bJSON\.parse\(|\bparseText\(/.test(line) && !/^\s*(\*|\/)/.test(line)),
      )
    expect(readers.map((file) => file.slice(4)).toSorted()).toEqual(Object.keys(jsonReaders))
  })

  it('lets the client import types and files for browsers alone, so that browsers load nothing of the server', () => {
    const importLine = /^(?:import|export) (?!type )[^'"]*?from\s+['"](\.\.\/[^'"]+)['"]/gm
    const clientFiles = sources.filter((file) => file.startsWith('src/client/'))
    expect(clientFiles.length).toBeGreaterThan(5)
    const values = clientFiles.flatMap((file) =>
      [...read(file).matchAll(importLine)].filter(
        ([, to]) => !browserFiles.includes(to.slice('../'.length)),
      ),
    )
    expect(values.map(([line]) => line)).toEqual([])
    expect(imports.filter(({ from }) => browserFiles.includes(from))).toEqual([])
  })

  it('has what is for browsers and Workers beside what is for Node, and imports it there alone', () => {
    const isWeb = (file: string) => file.endsWith('.web.ts')
    const alone = sources.filter(
      (file) => isWeb(file) && !sources.includes(file.replace('.web.ts', '.ts')),
    )
    expect(alone).toEqual(['src/core/absent.web.ts'])
    expect(imports.filter(({ from, to }) => isWeb(to) && !isWeb(from))).toEqual([])
  })

  it('has no circle of files', () => {
    const next = new Map<string, string[]>()
    for (const { from, to } of imports.filter((edge) => isOurs(edge.to)))
      next.set(from, [...(next.get(from) ?? []), to])
    const done = new Set<string>()
    const visit = (file: string, path: readonly string[]): readonly string[] | undefined => {
      if (path.includes(file)) return [...path.slice(path.indexOf(file)), file]
      if (done.has(file)) return undefined
      for (const to of next.get(file) ?? []) {
        const circle = visit(to, [...path, file])
        if (circle !== undefined) return circle
      }
      done.add(file)
      return undefined
    }
    expect(
      [...next.keys()].map((file) => visit(file, [])).filter((circle) => circle !== undefined),
    ).toEqual([])
  })

  it('has no state of modules but what is listed, six names at most', () => {
    const lets = sources.flatMap((file) =>
      [...read(file).matchAll(/^(?:export )?let (\w+|[[{].*)/gm)].map(
        ([, name]) => `${file.slice(4)}: ${name}`,
      ),
    )
    expect(lets).toEqual(moduleLets)
    expect(moduleLets.length).toBeLessThanOrEqual(6)
  })

  it('lets only the thread for pixels load what walks over them', () => {
    const valueImport = /^(?:import|export) (?!type )[^'"]*?from\s+['"](\.[^'"]+)['"]/gm
    const loaders = sources.flatMap((file) => {
      const from = file.slice('src/'.length)
      const targets = [...read(file).matchAll(valueImport)].map(([, to]) =>
        posix.join(posix.dirname(from), to),
      )
      return targets.filter((to) => pixelWalkers.includes(to)).map((to) => ({ from, to }))
    })
    const kernels = readdirSync(new URL('src/values/image', root)).filter((file) =>
      /^raster-.*(?<!modes)\.ts$/.test(file),
    )
    expect(pixelWalkers).toEqual(
      expect.arrayContaining(kernels.map((file) => `values/image/${file}`)),
    )
    expect(loaders).toContainEqual({ from: pixelThread, to: 'values/image/raster-convert.ts' })
    expect(
      loaders.filter(({ from }) => from !== pixelThread && !pixelWalkers.includes(from)),
    ).toEqual([])
    expect(imports.filter(({ to }) => to === pixelThread).map(({ from }) => from)).toEqual([
      'values/image/pixel-work.ts',
    ])
    expect(read('src/values/image/pixel-work.ts')).toMatch(
      /^import type .* from '\.\/pixel-thread\.ts'$/m,
    )
  })

  it('lets the process that starts workers load no Runners, no values and no other commands', () => {
    const loaded = loadedWith('cli/program.ts', 'cli/serve-command.ts')
    const heavy =
      /^(?:values|descriptors|protocols|core\/native)\/|^runner\/runner\.ts$|^cli\/other-commands/
    expect(loaded.filter((file) => heavy.test(file))).toEqual([])
  })

  it('loads node:http, and TLS, only where a server uses them', () => {
    const loaded = loadedWith('index.ts', 'cli/worker-program.ts')
    expect(loaded).toContain('engine/uws/uws.ts')
    expect(loaded).not.toContain('http/node-http.ts')
    const tls = loaded.filter((file) => /^import (?!type ).*'node:tls'/m.test(read(`src/${file}`)))
    expect(tls).toEqual([])
  })

  it('has one owner per package', () => {
    const packages = imports.filter(({ to }) => !isOurs(to) && !to.startsWith('node:'))
    const nameOf = (to: string) =>
      to.startsWith('@') ? to.split('/').slice(0, 2).join('/') : room(to)
    expect(packages).toContainEqual({ from: 'values/image/napi-image.ts', to: '@napi-rs/image' })
    expect(packages.filter(({ from, to }) => packageOwners[nameOf(to)] !== from)).toEqual([])
  })

  it('has no line above 120 bytes, comments included', () => {
    expect(written).toEqual(
      expect.arrayContaining(['proto/ndarray.fbs', 'test/oip/python/clients.py', 'Dockerfile']),
    )
    const long = written.flatMap((file) =>
      read(file)
        .split('\n')
        .flatMap((line, i) => (Buffer.byteLength(line) > 120 ? [`${file}:${i + 1}: ${line}`] : [])),
    )
    expect(long).toEqual([])
  })

  it('keeps files under 400 lines', () => {
    expect(code.filter((file) => read(file).split('\n').length > 401)).toEqual([])
  })

  it('names files in kebab-case after what they hold', () => {
    expect(
      sources.filter((file) => !/^src(\/[a-z0-9]+(-[a-z0-9]+)*)+(\.web)?\.ts$/.test(file)),
    ).toEqual([])
    expect(
      files.filter((file) => /^(src|native|bench|test)\//.test(file) && emptyNames.test(file)),
    ).toEqual([])
  })

  it('documents every export', () => {
    const bare = sources
      // What is for browsers and Workers is documented where it is for Node.
      .filter(
        (file) =>
          !['src/index.ts', 'src/descriptors/index.ts'].includes(file) && !file.endsWith('.web.ts'),
      )
      .flatMap((file) => {
        const lines = read(file).split('\n')
        return lines.flatMap((line, i) =>
          /^export (?!\{|\*|type \{)/.test(line) && !/\*\/\s*$/.test(lines[i - 1] ?? '')
            ? [`${file}:${i + 1}: ${line}`]
            : [],
        )
      })
    expect(bare).toEqual([])
  })

  it('has no default exports', () => {
    expect(sources.filter((file) => /^export default/m.test(read(file)))).toEqual([])
  })

  it('exports the names that were decided, and no others', () => {
    expect(Object.keys(serving).sort()).toEqual([...publicNames].sort())
    expect(Object.keys(serving.io).sort()).toEqual([...ioNames].sort())
  })
})
