/**
 * The whole story: a day is recorded, replayed against the next version, and sent to a canary.
 * `npx tsx examples/evidence/story.ts [FOLDER]`
 * @module
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { sendDay } from './day.ts'

const [folder = mkdtempSync(join(tmpdir(), 'evidence-'))] = process.argv.slice(2)
mkdirSync(folder, { recursive: true })
const command = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))
const fileOf = (name: string) => fileURLToPath(new URL(name, import.meta.url))

function serving(...args: string[]): ChildProcess {
  console.log(`\n$ serving ${args.join(' ').replaceAll(fileOf('.'), 'examples/evidence/')}`)
  return spawn(process.execPath, [command, ...args], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

async function runOf(...args: string[]): Promise<void> {
  const child = serving(...args)
  child.stdout?.pipe(process.stdout)
  child.stderr?.pipe(process.stderr)
  const [code] = await once(child, 'close')
  console.log(`exit code ${code}`)
}

/** Prints why a version goes back. Each failed call has a line, too. */
function tellWhatChanged(child: ChildProcess): void {
  if (child.stderr === null) return
  createInterface(child.stderr).on('line', (line) => {
    const { event, msg = line } = line.startsWith('{') ? JSON.parse(line) : {}
    if (!line.startsWith('{') || event === 'runner_went_back') console.log(msg)
  })
}

/** Serves a service, sends a day to it, and returns what `ask` does before it ends. */
async function dayOf(service: string, ask = async (_origin: string): Promise<void> => {}) {
  const child = serving(
    'serve',
    fileOf(service),
    '--port',
    '0',
    '--workers',
    '1',
    '--log-level',
    'warn',
  )
  const ended = once(child, 'close')
  tellWhatChanged(child)
  let printed = ''
  const origin = await new Promise<string>((resolve, reject) => {
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      printed += text
      const [ready] = /http:\/\/localhost:\d+/.exec(printed) ?? []
      if (ready !== undefined) resolve(ready)
    })
    child.once('close', () => reject(new Error(`${service} did not start: ${printed}`)))
  })
  try {
    for (const [status, count] of await sendDay(origin))
      console.log(`${count} answers of ${status}`)
    await ask(origin)
  } finally {
    child.kill('SIGTERM')
    await ended
  }
}

console.log('1. A day of requests is recorded.')
await dayOf('service.ts')
await runOf('capture', 'ls')

console.log('\n2. The next version gets the same day, and is found out.')
await runOf('replay', 'capture', '--against', fileOf('next.ts'), '--report', 'report.html')

console.log('\n3. As a canary it goes back by itself.')
await dayOf('canary.ts', async (origin) => {
  const metrics = await (await fetch(`${origin}/metrics`)).text()
  for (const line of metrics.split('\n'))
    if (/^serving_split_(seconds_count|errors_total|canary_share)/.test(line)) console.log(line)
})

console.log(`\nThe capture and the report are in ${folder}`)
