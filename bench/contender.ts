/**
 * A contender: a server in a process of its own.
 * @module
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Usage } from './servers/listening.ts'

/** Contenders by name: the file in `servers/` and its environment. */
export const contenders: Readonly<
  Record<string, { readonly file: string; readonly env?: Readonly<Record<string, string>> }>
> = {
  bare: { file: 'bare.ts' },
  serving: { file: 'serving.ts' },
  fastify: { file: 'fastify.ts' },
  'fastify, JSON only': { file: 'fastify.ts', env: { BENCH_PLAIN: '1' } },
}

/** A running server. */
export interface Contender extends AsyncDisposable {
  readonly name: string
  readonly url: string
  usage(): Promise<Usage>
}

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))

/** Starts the server of that name and waits until it listens. */
export async function startContender(name: string): Promise<Contender> {
  const { file, env } = contenders[name]
  const child = fork(here(`servers/${file}`), {
    execArgv: ['--import', 'tsx'],
    // dist, not src: what is measured is what is installed.
    env: { ...process.env, ...env, NODE_ENV: 'production', TSX_TSCONFIG_PATH: here('tsconfig.json') },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const { port } = await answer<{ port: number }>(child)
  return {
    name,
    url: `http://127.0.0.1:${port}`,
    async usage() {
      const reply = answer<{ usage: Usage }>(child)
      child.send('usage')
      return (await reply).usage
    },
    async [Symbol.asyncDispose]() {
      const gone = once(child, 'exit')
      child.kill()
      await gone
    },
  }
}

async function answer<T>(child: ChildProcess): Promise<T> {
  const exited = once(child, 'exit').then(([code]) => {
    throw new Error(`the server ended with code ${code}`)
  })
  const [message] = await Promise.race([once(child, 'message'), exited])
  return message as T
}
