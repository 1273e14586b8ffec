/** Workers that are child processes of Node, for native code that may crash or hang its process. @module */
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { type OpenLink, startChildren, type Up } from './child-workers.ts'
import { deviceEnv, type StartWorkers } from './worker.ts'

/** Starts child processes. They end with their parent, even a killed one: their channel to it closes. */
export const startProcesses: StartWorkers = (options) => startChildren(options, openNode)

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
