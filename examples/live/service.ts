/**
 * Words in live sound: a page sends the microphone as it records, and the service answers as soon as a word ends.
 * @module
 */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { buildSync } from 'esbuild'
import { io, Service } from 'serving'
import { z } from 'zod'
import { WordFinder } from './words.ts'

const svc = new Service('listener', { doc: 'Finds words in live sound.' })
const word = z.object({
  start: z.number(),
  end: z.number(),
  level: z.number(),
  pitch: z.number().nullable(),
})

export const listen = svc.live(
  'listen',
  {
    input: new io.NumpyNdarray({ dtype: 'float32', shape: [-1] }),
    output: new io.JSON({ schema: word }),
    doc: 'Sound in pieces of any length, 16,000 samples a second, in; a word with its pitch out, when it ends.',
  },
  async function* listen(chunks) {
    const finder = new WordFinder()
    for await (const { data } of chunks) yield* finder.push(data)
    yield* finder.end()
  },
)

const page = readFileSync(new URL('./index.html', import.meta.url))
const entry = fileURLToPath(new URL('./app.ts', import.meta.url))
const [app] = buildSync({
  entryPoints: [entry],
  bundle: true,
  format: 'esm',
  write: false,
}).outputFiles
svc.mount(
  '/app',
  () => new Response(page, { headers: { 'content-type': 'text/html; charset=utf-8' } }),
)
svc.mount(
  '/app/app.js',
  () => new Response(app.text, { headers: { 'content-type': 'text/javascript' } }),
)

export default svc
