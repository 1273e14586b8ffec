/** The package serving-io without Node: what a bundler takes of it, and its answers. */
import { createContext, runInContext } from 'node:vm'
import * as io from 'serving/io'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { type Bundle, bundleOf, packedIo } from '../io/web-bundle.ts'
import { cases } from '../io/web-cases.ts'
import type * as Handlers from '../io/web-handlers.ts'
import { ask } from '../io/web-handlers.ts'

// The model: what Node answers without the add-on, whose messages name other places.
vi.hoisted(() => {
  process.env.SERVING_NATIVE = 'off'
})

const packed = packedIo()

/** What browsers and Workers have of what the handlers use. Bytes are of one kind inside and outside. */
const webGlobals = [
  ...[
    'AbortController',
    'ArrayBuffer',
    'Blob',
    'DecompressionStream',
    'Headers',
    'ReadableStream',
    'Request',
  ],
  ...['Response', 'TextDecoder', 'TextEncoder', 'URL', 'URLSearchParams', 'Uint8Array'],
  ...['clearTimeout', 'crypto', 'performance', 'setTimeout', 'structuredClone'],
]

describe.each(['browser', 'workerd'] as const)('serving-io under the condition %s', (platform) => {
  let bundle: Bundle

  beforeAll(async () => {
    bundle = await bundleOf('test/io/web-handlers.ts', platform, packed)
  })

  it('is bundled whole, without frames, pictures, files and modules of Node', () => {
    const files = Object.keys(bundle.inputs).map(
      (file) => file.split('serving-io/dist/').at(-1) ?? '',
    )
    expect(
      files.filter((file) =>
        /^(web\/)?values\/(table|image)|^core\/file\/(?!extension)|^(io|chunks)\//.test(file),
      ),
    ).toEqual([])
    expect(files).toContain('web/descriptors/numpy-ndarray.js')
    expect(bundle.text).not.toMatch(/node:|\bBuffer\b/)
  })

  it.runIf(platform === 'browser')(
    'has the names of that for Node, and refuses to make what needs Node',
    async () => {
      const { text } = await bundleOf('test/io/web-names.ts', platform, packed)
      const { names, refusals } = runInContext(`${text};handlers`, webContext())
      expect(JSON.parse(names)).toEqual([Object.keys(io).toSorted(), Object.keys(io.io).toSorted()])
      expect(JSON.parse(refusals)).toEqual(
        ['io.Image', 'io.PandasDataFrame', 'nodeHandler'].map((name) =>
          expect.stringMatching(`${name} needs Node`),
        ),
      )
    },
  )
})

function webContext(): object {
  const context = createContext(
    Object.fromEntries(
      webGlobals.map((name) => [name, globalThis[name as keyof typeof globalThis]]),
    ),
  )
  // Pages that are not isolated from others have none.
  runInContext('delete globalThis.SharedArrayBuffer', context)
  return context
}

describe('handlers without Buffer and process', async () => {
  const { text } = await bundleOf('test/io/web-handlers.ts', 'browser', packed)
  const handlers: typeof Handlers = runInContext(`${text};handlers`, webContext())

  it.each(cases)('answer %s as Node does', async (_, path, headers, body) => {
    const told = await handlers.ask(path, headers, body)
    expect(told).toEqual(await ask(path, headers, body))
  })
})
