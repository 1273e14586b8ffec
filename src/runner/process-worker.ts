/** A worker that is a child process of Node, for native code that may crash or hang its process. @module */
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { ChildWorker, type OpenLink, type Up } from './child-worker.ts'
import { deviceEnv, type StartWorker } from './worker.ts'

/** Starts a child process. It ends with its parent, even a killed one: the channel to it closes. */
export const startProcess: StartWorker = (options, index) =>
  new ChildWorker(options, index, openNode)

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
