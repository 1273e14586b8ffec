/**
 * What a browser loads of the client.
 */
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { expect, it } from 'vitest'
import { browserFiles } from '../arch/rules.ts'

it('the client is one file of less than 20 KB gzip for browsers, with nothing of Node and of packages', async () => {
  const { outputFiles, metafile } = await build({
    entryPoints: [fileURLToPath(new URL('../../src/client/index.ts', import.meta.url))],
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    write: false,
    metafile: true,
  })
  const inputs = Object.keys(metafile.inputs).map((file) => file.slice(file.indexOf('src/') + 'src/'.length))
  const others = inputs.filter((file) => !/^client\/[a-z-]+\.ts$/.test(file) && !browserFiles.includes(file))
  expect(others).toEqual([])
  const bytes = gzipSync(outputFiles[0].contents).length
  console.log(`the client: ${outputFiles[0].contents.length} bytes, gzip ${bytes}`)
  expect(bytes).toBeLessThan(20 * 1024)
})
