/** Workers that are child processes, whatever program they run and however messages reach it. @module */
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { deferred } from '../core/promise.ts'
import { type ErrorFields, errorFromFields } from './remote-error.ts'
import {
  type Channel,
  type ModelWorker,
  type Transfer,
  WorkerEnded,
  type WorkerPool,
  type WorkerPoolOptions,
} from './worker.ts'

/** To the process: a message to handle, or one for the channel of an open stream. */
export type Down =
  | {
      readonly kind: 'message'
      readonly id: number
      readonly message: unknown
      readonly open: boolean
    }
  | ChannelPart
/** From the process: ready, a reply, a message of a stream, an unhandled rejection, or a printed line. */
export type Up =
  | { readonly kind: 'ready' }
  | { readonly kind: 'reply'; readonly id: number; readonly reply: unknown }
  | ChannelPart
  | { readonly kind: 'stray'; readonly error: ErrorFields }
  | { readonly kind: 'printed'; readonly text: string }
interface ChannelPart {
  readonly kind: 'part'
  readonly id: number
  readonly part: unknown
}

/** The listeners to the channels of open streams, by the numbers of their messages. */
export type ChannelListeners = Map<number, (part: unknown) => void>

/** @returns one end of a stream's channel. */
export function channelOf(
  listeners: ChannelListeners,
  id: number,
  post: (message: ChannelPart, transfer: readonly Transfer[]) => void,
): Channel {
  return {
    post: (part, transfer = []) => post({ kind: 'part', id, part }, transfer),
    listen: (listener) => void listeners.set(id, listener),
    close: () => void listeners.delete(id),
  }
}

/** A child process and the way to it. */
export interface ChildLink {
  readonly process: ChildProcess
  /**
   * Drops the message if the process has ended.
   *
   * @throws of a message that cannot be sent.
   */
  post(message: Down, transfer: readonly Transfer[]): void
  close(): void
  kill(): void
  ref(): void
  unref(): void
}

/** Starts a process and calls `receive` with what it sends. */
export type OpenLink = (
  options: WorkerPoolOptions,
  index: number,
  receive: (message: Up) => void,
) => ChildLink

/** How long a process may take to end before it is killed. **Units**: milliseconds. */
const endMs = 1_000

/** Pause before the replacement of a process that ended before it was ready. **Units**: milliseconds. */
const pauseMs = 1_000

/** Starts child processes, and replaces each that ends. */
export function startChildren(options: WorkerPoolOptions, open: OpenLink): WorkerPool {
  const running = new Set<ReturnType<typeof childOf>>()
  let stopping = false
  const start = (index: number) => {
    if (stopping) return
    let wasUp = false
    const child = childOf(options, index, open, (worker) => {
      wasUp = true
      if (!stopping) options.up(worker)
    })
    running.add(child)
    child.exited.then((cause) => {
      running.delete(child)
      if (stopping) return
      options.down(child.worker, cause)
      if (wasUp) start(index)
      else setTimeout(start, pauseMs, index).unref()
    })
  }
  for (let i = 0; i < options.count; i++) start(i)
  return {
    async stop() {
      stopping = true
      await Promise.all([...running].map((child) => child.end()))
    },
  }
}

function childOf(
  options: WorkerPoolOptions,
  index: number,
  open: OpenLink,
  up: (worker: ModelWorker) => void,
) {
  const waiting = new Map<number, ReturnType<typeof deferred<unknown>>>()
  const channels: ChannelListeners = new Map()
  let ended: WorkerEnded | undefined
  let count = 0
  const rest = () => {
    if (waiting.size === 0) link.unref()
  }
  const link = open(options, index, (sent) => {
    switch (sent.kind) {
      case 'part':
        return channels.get(sent.id)?.(sent.part)
      case 'stray':
        return options.stray(worker, errorFromFields(sent.error))
      case 'printed':
        return options.printed(worker, sent.text)
      case 'reply':
        waiting.get(sent.id)?.resolve(sent.reply)
        waiting.delete(sent.id)
        return rest()
      case 'ready':
        up(worker)
        rest()
    }
  })
  const { process } = link
  const exited = new Promise<WorkerEnded>((resolve) => {
    const end = (text: string) => {
      ended ??= new WorkerEnded(text)
      for (const { reject } of waiting.values()) reject(ended)
      waiting.clear()
      resolve(ended)
    }
    process.once('exit', (code, signal) =>
      end(`${worker.name} ended ${signal === null ? `with code ${code}` : `by ${signal}`}`),
    )
    process.on('error', (error) => process.pid === undefined && end(startFailure(error)))
  })

  const send = async (
    id: number,
    message: unknown,
    transfer: readonly Transfer[],
    open: boolean,
  ): Promise<unknown> => {
    if (ended !== undefined) throw ended
    const reply = deferred<unknown>()
    waiting.set(id, reply)
    link.ref()
    try {
      link.post({ kind: 'message', id, message, open }, transfer)
    } catch (error) {
      waiting.delete(id)
      throw error
    }
    return await reply.promise
  }

  const worker: ModelWorker = {
    name: `process ${process.pid}`,
    index,
    run: (message, transfer) => send(++count, message, transfer, false),
    open(message, transfer) {
      const id = ++count
      const done = send(id, message, transfer, true).finally(() => channels.delete(id))
      return { channel: channelOf(channels, id, (...part) => link.post(...part)), done }
    },
    kill: () => link.kill(),
  }

  const end = async () => {
    if (process.exitCode !== null || process.signalCode !== null || process.pid === undefined)
      return
    const timer = setTimeout(() => link.kill(), endMs)
    const exit = once(process, 'exit')
    link.close()
    await exit
    clearTimeout(timer)
  }
  return { worker, exited, end }
}

/** @returns why a program could not be started. */
export function startFailure({ code, path, message }: NodeJS.ErrnoException): string {
  return code === 'ENOENT' ? `there is no program ${path}` : message
}

/** Ends a process that leads a process group, and the processes that it started. */
export function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {}
}
