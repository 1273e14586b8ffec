/** A process of Node with a model in Python that computes. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { file, python } from './python.ts'

const program = (entry: string) => `
  import { Runner, Service, serve } from ${JSON.stringify(entry)}
  const runner = new Runner('test', {
    python: new URL(${JSON.stringify(file('model').href)}),
    executable: ${JSON.stringify(python)},
    methods: { pid: {}, child: {}, loop: {} },
  })
  const listener = await serve(new Service('python', { runners: [runner] }), { port: 0, host: '127.0.0.1' })
  process.once('SIGTERM', () => void listener.close().then(() => process.exit()))
  const pids = [await runner.pid(), await runner.child()]
  runner.loop().catch(() => {})
  console.log(JSON.stringify(pids))`

/** Starts it; returns the model's process and one that this has started. */
export async function servePython(): Promise<{ pids: readonly number[]; child: ChildProcess }> {
  const entry = new URL('../../../dist/index.js', import.meta.url).href
  const args = ['--input-type=module', '--eval', program(entry)]
  const child = spawn(process.execPath, args, {
    cwd: fileURLToPath(new URL('.', import.meta.url)),
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = await once(createInterface({ input: child.stdout }), 'line')
  return { pids: JSON.parse(line), child }
}
