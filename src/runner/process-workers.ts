/** Workers that are child processes of Node, for native code that may crash or hang its process. @module */
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { type Down, type OpenLink, startChildren, type Up } from './child-workers.ts'
import { errorFields } from './remote-error.ts'
import { type Channel, deviceEnv, type WorkerPool, type WorkerPoolOptions } from './worker.ts'

/** Handles one message in the process; those of {@link ModelWorker.open} have a channel. */
export type ProcessHandler = (message: unknown, channel: Channel | undefined) => Promise<unknown>

/** Starts child processes. They end with their parent, even a killed one: their channel to it closes. */
export function startProcesses(options: WorkerPoolOptions): WorkerPool {
  return startChildren(options, openNode)
}

const openNode: OpenLink = ({ entry, memoryLimitMb, deviceIds }, index, receive) => {
  const limit = memoryLimitMb === undefined ? [] : [`--max-old-space-size=${memoryLimitMb}`]
  const child = fork(fileURLToPath(entry), [], {
    serialization: 'advanced',
    env: { ...process.env, ...deviceEnv(deviceIds, index) },
    execArgv: [...process.execArgv, ...limit],
  })
  child.on('message', (message) => receive(message as Up))
  return {
    process: child,
    post(message) {
      if (child.connected) child.send(message, () => {})
    },
    close() {
      if (child.connected) child.disconnect()
    },
    kill: () => void child.kill('SIGKILL'),
    ref() {
      child.ref()
      child.channel?.ref()
    },
    unref() {
      child.unref()
      child.channel?.unref()
    },
  }
}

/** Makes this process a worker: its channel's messages go to the handler. */
export function serveProcess(handler: ProcessHandler): void {
  const channels = new Map<number, (message: unknown) => void>()
  const post = (message: Up) => process.connected && process.send?.(message, undefined, undefined, () => {})
  process.on('message', (down: Down) => {
    if (down.kind === 'part') {
      channels.get(down.id)?.(down.part)
      return
    }
    const { id, message, open } = down
    const channel: Channel | undefined = open
      ? {
          post: (part) => void post({ kind: 'part', id, part }),
          listen: (listener) => void channels.set(id, listener),
          close: () => void channels.delete(id),
        }
      : undefined
    void handler(message, channel).then((reply) => post({ kind: 'reply', id, reply }))
  })
  process.once('disconnect', () => process.exit(0))
  // The default would end the process, perhaps during another call.
  process.on('unhandledRejection', (reason) => void post({ kind: 'stray', error: errorFields(reason) }))
  // Ctrl-C reaches the whole process group; the server ends this process when it is done.
  process.on('SIGINT', () => {})
  post({ kind: 'ready' })
}
