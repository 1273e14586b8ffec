/** The program of a runner's child processes. @module */

import { type ChannelListeners, channelOf, type Down, type Up } from './child-worker.ts'
import { ModelHost } from './model-host.ts'
import { errorFields } from './remote-error.ts'

const host = new ModelHost('process')
const listeners: ChannelListeners = new Map()
const post = (message: Up) =>
  void (process.connected && process.send?.(message, undefined, undefined, () => {}))

process.on('message', async (down: Down) => {
  if (down.kind === 'part') {
    listeners.get(down.id)?.(down.part)
    return
  }
  const { id, message, open } = down
  post({
    kind: 'reply',
    id,
    reply: await host.handle(message, open ? channelOf(listeners, id, post) : undefined),
  })
})
process.once('disconnect', () => process.exit(0))
// The default would end the process, perhaps during another call.
process.on('unhandledRejection', (reason) => post({ kind: 'stray', error: errorFields(reason) }))
// Ctrl-C reaches the whole process group; the server ends this process when it is done.
process.on('SIGINT', () => {})
