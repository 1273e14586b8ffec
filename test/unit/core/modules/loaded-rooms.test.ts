import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'

const root = fileURLToPath(new URL('../../../../', import.meta.url))

const hooks = `export async function load(url, context, next) {
  process._rawDebug(url)
  return next(url, context)
}`

/** A service that is served, asked and stopped, with the options of `line`. */
const serviceOf = (line: string) => `
import { register } from 'node:module'
register(${JSON.stringify(`data:text/javascript,${encodeURIComponent(hooks)}`)})
const { io, Service, serve } = await import(${JSON.stringify(join(root, 'src/index.ts'))})
const svc = new Service('s', ${line})
svc.api({ input: new io.JSON(), output: new io.JSON(), name: 'echo' }, (value) => value)
const listener = await serve(svc, { port: 0, host: '127.0.0.1' })
const url = 'http://127.0.0.1:' + listener.port + '/echo'
await fetch(url, { method: 'POST', body: '1', headers: { 'content-type': 'application/json' } })
await listener.close()
`

/** Returns the files of `src` that a process loads, by their paths in it. */
function loadedOf(code: string): string[] {
  const args = [
    '--import',
    import.meta.resolve('tsx'),
    '--input-type=module',
    '--eval',
    `${code}\nprocess.exit(0)`,
  ]
  const folder = mkdtempSync(join(tmpdir(), 'serving-loaded-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const printed = execFileSync(
    'bash',
    ['-c', '"$@" 2>&1 >/dev/null', 'bash', process.execPath, ...args],
    {
      cwd: folder,
      encoding: 'utf8',
    },
  )
  return [...printed.matchAll(/^file:.*\/src\/(.*)$/gm)].map(([, file]) => file)
}

it('loads nothing of capture, openai and MCP for a service without them', () => {
  const files = loadedOf(serviceOf('{}'))
  expect(files).toContain('service.ts')
  expect(files.filter((file) => /^(capture|protocols\/(openai|mcp))\//.test(file))).toEqual([])
})

it.each([
  ['what records calls', "{ capture: { rate: 1, to: 'file:./capture' } }", 'capture/cells.ts'],
  ['MCP', '{ mcp: true }', 'protocols/mcp/tool-server.ts'],
])('loads %s for a service with it', (_, line, file) => {
  expect(loadedOf(serviceOf(line))).toContain(file)
})
