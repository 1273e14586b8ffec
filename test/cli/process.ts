/** Runs the built command as a process of its own, and talks to it over sockets. */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { onTestFinished } from 'vitest'
import { newFolder, newProject, root } from '../project.ts'

export { root }
export const probe = join(root, 'test/cli/services/probe.service.mjs')
const main = join(root, 'dist/cli/main.js')

/** A process that runs or has ended. */
export interface Running {
  readonly child: ChildProcess
  readonly exited: Promise<{ code: number | null; signal: string | null }>
  stdout(): string
  stderr(): string
}

/** Starts `serving ARGS`; it is killed when the test is over. */
export function serving(
  args: readonly string[],
  options: {
    env?: Record<string, string>
    cwd?: string
    program?: string
    within?: readonly string[]
  } = {},
): Running {
  const { env = {}, cwd = root, program = main, within = [] } = options
  // Nothing of the test runner's own may reach it, such as NODE_OPTIONS or our own settings.
  const { PATH = '', HOME = '' } = process.env
  const [command, ...rest] = [...within, process.execPath, program, ...args]
  const child = spawn(command, rest, {
    cwd,
    env: { PATH, HOME, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const exited = new Promise<{ code: number | null; signal: string | null }>((resolve) => {
    child.once('close', (code, signal) => resolve({ code, signal }))
  })
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await exited
  })
  return { child, exited, stdout: () => stdout, stderr: () => stderr }
}

/** Returns what a command prints and its exit code, once it has ended. */
export async function run(args: readonly string[], options?: Parameters<typeof serving>[1]) {
  const running = serving(args, options)
  const { code } = await running.exited
  return { code, stdout: running.stdout(), stderr: running.stderr() }
}

/** A server that has told its port. */
export interface Server extends Running {
  readonly port: number
  /** The line that tells where the service is. */
  readonly line: string
}

/** Serves a file on a free port, and resolves when the ready line is there. */
export async function serveFile(
  file: string,
  args: readonly string[] = [],
  options: Parameters<typeof serving>[1] & { command?: 'serve' | 'dev' } = {},
): Promise<Server> {
  const running = serving([options.command ?? 'serve', file, '--port', '0', ...args], options)
  const line = await until(() => {
    if (running.child.exitCode !== null)
      throw new Error(`ended before it was ready: ${running.stderr()}`)
    return /^serving .* at http.*\n(?:(?:POST|GET|LIVE) .*\n)+/m
      .exec(running.stdout())?.[0]
      .split('\n')[0]
  }).catch((error: Error) => {
    throw new Error(`${error.message}; it said: ${running.stdout()}${running.stderr()}`)
  })
  return {
    ...running,
    line,
    port: Number(/:(\d+)/.exec(line.slice(line.indexOf('http://') + 7))?.[1]),
  }
}

/** Asks until there is an answer other than undefined or false; a bounded number of times. */
export async function until<T>(ask: () => T | Promise<T>): Promise<Exclude<T, undefined | false>> {
  for (let tries = 0; tries < 1000; tries++) {
    const answer = await ask()
    if (answer !== undefined && answer !== false) return answer as Exclude<T, undefined | false>
    await wait(20)
  }
  throw new Error('the condition was never met')
}

/** An answer over HTTP; status 0 when there was none, for a refused or a broken connection. */
export interface Answer {
  readonly status: number
  readonly body: string
}

/** Sends one request over a connection of its own, so that any worker may take it. */
export function send(port: number, path: string, body?: string): Promise<Answer> {
  return new Promise((resolve) => {
    const sent = request({
      port,
      host: 'localhost',
      path,
      method: body === undefined ? 'GET' : 'POST',
      agent: false,
    })
    sent.on('response', (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (part: string) => {
        text += part
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: text }))
      response.on('error', (error) => resolve({ status: 0, body: String(error) }))
    })
    sent.on('error', (error) => resolve({ status: 0, body: String(error) }))
    if (body !== undefined) sent.setHeader('content-type', 'text/plain')
    sent.end(body)
  })
}

/** Returns the process that answers. */
export async function answeringPid(port: number): Promise<number | undefined> {
  const { status, body } = await send(port, '/pid', 'x')
  return status === 200 ? JSON.parse(body).pid : undefined
}

/** Asks until so many different workers have answered, and tells which. */
export async function workerPids(port: number, count: number): Promise<number[]> {
  const pids = new Set<number>()
  return await until(async () => {
    const pid = await answeringPid(port)
    if (pid !== undefined) pids.add(pid)
    return pids.size >= count && [...pids]
  })
}

/** Returns a request that the service holds; it runs once this resolves, and `release` lets it end. */
export async function heldRequest(
  port: number,
): Promise<{ answer: Promise<Answer>; release: () => void }> {
  const file = join(folder({}), 'release')
  const answer = send(port, '/hold', file)
  await until(() => existsSync(`${file}.begun`))
  return { answer, release: () => writeFileSync(file, '') }
}

/**
 * Returns a folder with files in it, removed when the test is over. `linked` puts our package into its node_modules, as
 * npm link does.
 */
export function folder(files: Readonly<Record<string, string>>, linked = false): string {
  const path = linked ? newProject(files) : newFolder(files)
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

/** Returns the data of the page of a report. */
export function dataOf(page: string): unknown {
  const [, data = ''] = /id="data">(.*)<\/script>/.exec(readFileSync(page, 'utf8')) ?? []
  return JSON.parse(data)
}
