/**
 * Serves an API, with jobs if it is told `async`, asks it once, and tells its parent which files of `src/jobs` it has
 * loaded: `loaded.ts FILE [async]`. FILE is of the store.
 */
import { register } from 'node:module'
import { MessageChannel } from 'node:worker_threads'

const [file, kind] = process.argv.slice(2)
const { port1, port2 } = new MessageChannel()
const loaded: string[] = []
port1.on('message', (url: string) => loaded.push(url)).unref()
const hooks = `
let port
export const initialize = (given) => { port = given }
export const load = (url, context, next) => { port.postMessage(url); return next(url, context) }
`
register(`data:text/javascript,${encodeURIComponent(hooks)}`, {
  data: port2,
  transferList: [port2],
})
const { io, Service, serve } = await import('../../src/index.ts')
const svc = new Service('asked', { jobs: { store: `sqlite:${file}` } })
const text = { input: new io.Text(), output: new io.Text() }
svc.api({ ...text, name: 'echo', async: kind === 'async' }, (words: string) => words)
const listener = await serve(svc, { port: 0, host: '127.0.0.1', logLevel: 'silent' })
const url = `http://127.0.0.1:${listener.port}`
await (await fetch(`${url}/echo`, { method: 'POST', body: 'x' })).text()
await (await fetch(`${url}/metrics`)).text()
await listener.close()
const files = loaded.flatMap((each) => /\/src\/(jobs\/.*|server\/jobs\/.*)$/.exec(each)?.[1] ?? [])
process.send?.([...new Set(files)].sort())
