/** The same functions on each platform that an adapter is for. */
import { spawn, spawnSync } from 'node:child_process'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { serve as serveHono } from '@hono/node-server'
import express from 'express'
import Fastify from 'fastify'
import { H3 } from 'h3'
import { toNodeHandler } from 'h3/node'
import { Hono } from 'hono'
import Koa from 'koa'
import { fetchHandler, nodeHandler } from 'serving/io'
import { freePort } from './free-port.ts'
import { routes } from './routes.ts'
import { listens, startWorker, workerd } from './workerd.ts'

/** A platform that listens. */
export interface Host {
  readonly url: string
  close(): Promise<void>
}

async function listening(server: Server): Promise<Host> {
  if (!server.listening)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

const nodeHandlers = () =>
  routes.map(({ path, options, fn }) => [path, nodeHandler(options, fn)] as const)
const fetchHandlers = () =>
  routes.map(({ path, options, fn }) => [path, fetchHandler(options, fn)] as const)

/** Starts the routes in a process of another runtime, which is there if `program` is. */
async function processOf(program: string, ...args: string[]): Promise<Host> {
  const child = spawn(
    program,
    [...args, fileURLToPath(new URL('fetch-server.ts', import.meta.url))],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  let said = ''
  for await (const piece of child.stdout) {
    said += piece
    const [, port] = /port (\d+)/.exec(said) ?? []
    if (port === undefined) continue
    return {
      url: `http://127.0.0.1:${port}`,
      close: () => {
        child.kill('SIGKILL')
        return ended
      },
    }
  }
  throw new Error(`${program} has ended before it listened`)
}

/** Starts the routes as a Worker. */
async function workerdHost(): Promise<Host> {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const child = await startWorker('test/io/worker.ts', port)
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  await listens(url, child)
  return {
    url,
    close: () => {
      child.kill('SIGKILL')
      return ended
    },
  }
}

const onNode: Readonly<Record<string, () => Promise<Host>>> = {
  'node:http'() {
    const handlers = new Map(nodeHandlers())
    return listening(createServer((req, res) => handlers.get(req.url ?? '')?.(req, res)))
  },
  Express() {
    const app = express()
    for (const [path, handler] of nodeHandlers()) app.post(path, handler)
    return listening(createServer(app))
  },
  async Fastify() {
    const app = Fastify()
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('*', (_request, _payload, done) => done(null))
    for (const [path, handler] of nodeHandlers()) {
      app.post(path, (request, reply) => {
        reply.hijack()
        handler(request.raw, reply.raw)
      })
    }
    await app.ready()
    return listening(app.server)
  },
  Koa() {
    const app = new Koa()
    const handlers = new Map(nodeHandlers())
    app.use((ctx) => {
      ctx.respond = false
      handlers.get(ctx.path)?.(ctx.req, ctx.res)
    })
    return listening(createServer(app.callback()))
  },
  async Hono() {
    const app = new Hono()
    for (const [path, handler] of fetchHandlers())
      app.post(path, (context) => handler(context.req.raw))
    const server = await new Promise<Server>((resolve) => {
      const started = serveHono({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, () =>
        resolve(started as Server),
      )
    })
    return listening(server)
  },
  H3() {
    const app = new H3()
    for (const [path, handler] of fetchHandlers()) app.post(path, (event) => handler(event.req))
    return listening(createServer(toNodeHandler(app)))
  },
}

/** Other runtimes, where they are: `BUN` and `DENO` name their programs. */
const programs: Readonly<Record<string, readonly string[]>> = {
  Bun: [process.env.BUN ?? 'bun'],
  Deno: [process.env.DENO ?? 'deno', 'run', '--allow-all'],
}
const isThere = ([program]: readonly string[]) => spawnSync(program, ['--version']).status === 0

/** Platforms by name, each with a function that starts it. */
export const hosts: ReadonlyMap<string, () => Promise<Host>> = new Map([
  ...Object.entries(onNode),
  ...Object.entries(programs)
    .filter(([, command]) => isThere(command))
    .map(([name, [program, ...args]]) => [name, () => processOf(program, ...args)] as const),
  ...(isThere([workerd]) ? [['workerd', workerdHost] as const] : []),
])
