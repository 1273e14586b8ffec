import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'vitest'
import { engines } from '../engines.ts'
import { probe, root, send, until } from './process.ts'

/** Serves with at most so many file descriptors a process; resolves to the ports of HTTP and gRPC. */
async function serveWithLimit(limit: number, engine: string, { onTestFinished }: TestContext) {
  const main = join(root, 'dist/cli/main.js')
  const args = [
    'serve',
    probe,
    '--port',
    '0',
    '--grpc-port',
    '0',
    '--workers',
    '1',
    '--engine',
    engine,
  ]
  const shell = `ulimit -n ${limit}; exec "$0" "$@"`
  const child = spawn('sh', ['-c', shell, process.execPath, main, ...args, '--host', '127.0.0.1'], {
    cwd: root,
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  }
  const ports = await until(() => {
    if (child.exitCode !== null) throw new Error(output)
    const found = /http:\/\/127\.0\.0\.1:(\d+).*gRPC at 127\.0\.0\.1:(\d+)/s.exec(output)
    return found !== null && { http: Number(found[1]), grpc: Number(found[2]) }
  })
  return { ...ports, output: () => output, worker: workerOf(child.pid as number) }
}

/** Returns the process id of the only child of a process. */
function workerOf(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8'))
}

/** Whether an HTTP/2 server answers the preface of a client. */
function isGrpcAlive(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.setTimeout(1000, () => socket.destroy())
    socket.write(`PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${'\0\0\0\u0004\0\0\0\0\0'}`, 'latin1')
    socket.once('data', () => {
      resolve(true)
      socket.destroy()
    })
    socket.on('error', () => {})
    socket.once('close', () => resolve(false))
  })
}

const linux = engines.filter(() => process.platform === 'linux')
const targets = linux.flatMap((engine) =>
  (['http', 'grpc'] as const).map((target) => ({ engine, target })),
)

/** File descriptors of a process. */
const limit = 160

// Mostly they wait, for connections to end.
describe.concurrent('too many connections', () => {
  it.for(targets)(
    'that are idle, on the $target port of the $engine engine, are survived',
    { timeout: 60_000 },
    async ({ engine, target }, context) => {
      const { expect } = context
      const server = await serveWithLimit(limit, engine, context)
      const sockets: Socket[] = []
      for (let i = 0; i < 480; i++)
        sockets.push(connect(server[target], '127.0.0.1').on('error', () => {}))
      await until(() => readdirSync(`/proc/${server.worker}/fd`).length >= 0.9 * limit)
      for (const socket of sockets) socket.destroy()
      await until(
        async () =>
          (await isGrpcAlive(server.grpc)) && (await send(server.http, '/livez')).status === 200,
      )
      // What measures the process could not be loaded meanwhile.
      expect((await send(server.http, '/metrics')).body).toContain('nodejs_eventloop_lag_seconds')
      expect(server.output()).not.toContain('worker_exit')
    },
  )
})
