/** Starts the built command, for soak tests. @module */
import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** How {@link startCommand} starts it. */
export interface StartOptions {
  /** With a process group of its own. */
  readonly detached?: boolean
  readonly env?: NodeJS.ProcessEnv
  /** The words in front of the command. */
  readonly before?: readonly string[]
}

/**
 * Starts the command with its log in the open file `log`, and resolves when it prints its port. **Errors**: an Error if
 * it ends before.
 */
export async function startCommand(
  args: readonly string[],
  log: number,
  { detached = false, env = {}, before = [] }: StartOptions = {},
): Promise<{ readonly child: ChildProcess; readonly port: number }> {
  const command = [...before, process.execPath, 'dist/cli/main.js', ...args, '--host', '127.0.0.1']
  const child = spawn(command[0], command.slice(1), {
    cwd: root,
    detached,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', log],
  })
  for await (const line of createInterface(child.stdout as Readable)) {
    const port = Number(/127\.0\.0\.1:(\d+)/.exec(line)?.[1])
    if (!(port > 0)) continue
    child.stdout?.resume()
    return { child, port }
  }
  throw new Error(`serving ${args[0]} did not start: see its log`)
}
