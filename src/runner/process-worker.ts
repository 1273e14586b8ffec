/** A worker that is a child process of Node, for native code that may crash or hang its process. @module */
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { ChildWorker, type Down, type OpenLink } from './child-worker.ts'
import { inPieces, piecesReader } from './large-messages.ts'
import { compiled, deviceEnv, type StartWorker } from './worker.ts'

/** Starts a child process. It ends with its parent, even a killed one: the channel to it closes. */
export const startProcess: StartWorker = (options, index) =>
  new ChildWorker(options, index, openNode)

const openNode: OpenLink = ({ memoryLimitMb, deviceIds }, index, receive) => {
  const limit = memoryLimitMb === undefined ? [] : [`--max-old-space-size=${memoryLimitMb}`]
  const child = fork(fileURLToPath(compiled('model-process')), [], {
    serialization: 'advanced',
    env: { ...process.env, ...deviceEnv(deviceIds, index) },
    execArgv: [...process.execArgv, ...limit],
  })
  child.on('message', piecesReader(receive) as (message: unknown) => void)
  let last: Promise<void> | undefined
  const sendPieces = async (message: Down, views: readonly ArrayBufferView[]) => {
    for (const piece of views.length === 0 ? [message] : inPieces(message, views))
      if (child.connected) await new Promise((sent) => void child.send(piece, sent))
  }
  return {
    process: child,
    post(message, transfer) {
      if (last === undefined && transfer.length === 0) {
        if (child.connected) child.send(message, () => {})
        return undefined
      }
      const send = () => sendPieces(message, transfer as ArrayBufferView[])
      const sent = (last ?? Promise.resolve()).then(send, send)
      last = sent
      return sent.finally(() => {
        if (last === sent) last = undefined
      })
    },
    close() {
      if (child.connected) child.disconnect()
    },
    kill: () => void child.kill('SIGKILL'),
    // Bun's channel has neither method: there the child alone holds the process open.
    ref() {
      child.ref()
      child.channel?.ref?.()
    },
    unref() {
      child.unref()
      child.channel?.unref?.()
    },
  }
}
