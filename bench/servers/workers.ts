/**
 * `serving serve` with two workers and an echo of arrays, as a contender.
 * @module
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { listening } from './listening.ts'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const args = ['serve', here('echo.mjs'), '--workers', '2', '--port', '0', '--host', '127.0.0.1']
const supervisor = spawn(process.execPath, [here('../../dist/cli/main.js'), ...args], {
  stdio: ['ignore', 'pipe', 'inherit'],
})
const stop = async () => {
  const gone = once(supervisor, 'exit')
  supervisor.kill()
  await gone
  process.exit(0)
}
process.on('SIGTERM', stop)
process.on('disconnect', stop)

let port: string | undefined
let printed = ''
supervisor.stdout.on('data', (text: Buffer) => {
  if (port !== undefined) return
  printed += text
  port = /http:\/\/127\.0\.0\.1:(\d+)\D/.exec(printed)?.[1]
  if (port !== undefined) listening(Number(port))
})
