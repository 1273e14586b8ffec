/**
 * An app in the browser and its service: the app calls the API by name, with its types.
 * @module
 */
import { readFileSync } from 'node:fs'
import { io, NDArray, Service } from 'serving'
import { digits } from '../digits/apis.ts'
import { prepare, readDigit } from '../digits/digits.ts'

const svc = new Service('drawing', {
  doc: 'Reads digits that are drawn in the browser.',
  runners: [digits],
})

export const read = svc.api(
  { input: new io.Image({ pilmode: 'L' }), output: new io.JSON() },
  async function read({ width, height, data }, ctx) {
    const cells = prepare(new NDArray(data, [height, width], 'uint8'))
    return readDigit((await digits.predict(cells, ctx)) as NDArray<'float32'>)
  },
)

// `app.js` is app.ts, bundled by esbuild.
const files = {
  '/app': ['index.html', 'text/html; charset=utf-8'],
  '/app/app.js': ['app.js', 'text/javascript'],
}
const bodies = new Map(
  Object.entries(files).map(([path, [file, type]]) => [
    path,
    { body: readFileSync(new URL(file, import.meta.url)), type },
  ]),
)
svc.mount('/app', ({ url }) => {
  const found = bodies.get(new URL(url).pathname)
  if (found === undefined) return new Response('not found', { status: 404 })
  return new Response(found.body, { headers: { 'content-type': found.type } })
})

export default svc
