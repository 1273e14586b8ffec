// Builds the page into one file, dist/page/index.html: script and style are inline, so that it needs nothing else.
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const file = (path) => fileURLToPath(new URL(path, import.meta.url))
const bundle = async (entry) => {
  const { outputFiles } = await build({
    entryPoints: [file(entry)],
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    target: ['es2022', 'chrome123', 'firefox121', 'safari17.5'],
    legalComments: 'none',
  })
  return outputFiles[0].text.trim()
}

const [script, style, html] = await Promise.all([
  bundle('app.ts'),
  bundle('page.css'),
  readFile(file('index.html'), 'utf8'),
])
if (/<\/script|<!--/i.test(script)) throw new Error('the script of the page would end its element')
const page = html.replace('/* page.css */', () => style).replace('/* app.ts */', () => script)
await mkdir(file('../../../dist/page'), { recursive: true })
await writeFile(file('../../../dist/page/index.html'), page)
