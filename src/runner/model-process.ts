/** The program of a runner's child processes. @module */

import { type ChannelListeners, channelOf, type Down, type Up } from './child-worker.ts'
import { inPieces, piecesReader } from './large-messages.ts'
import { ModelHost } from './model-host.ts'
import { errorFields } from './remote-error.ts'
import type { Transfer } from './worker.ts'

const host = new ModelHost('process')
const listeners: ChannelListeners = new Map()
const post = (message: Up, views: readonly Transfer[] = []) => {
  // At once: the model may use the memory of its answer again.
  for (const piece of views.length === 0
    ? [message]
    : inPieces(message, views as ArrayBufferView[]))
    if (process.connected) process.send?.(piece, undefined, undefined, () => {})
}

const receive = async (down: Down) => {
  if (down.kind === 'part') {
    listeners.get(down.id)?.(down.part)
    return
  }
  const { id, message, open } = down
  const views: Transfer[] = []
  const channel = open ? channelOf(listeners, id, post) : undefined
  const reply = await host.handle(message, channel, views)
  post({ kind: 'reply', id, reply }, views)
}
process.on('message', piecesReader(receive) as (message: unknown) => void)
process.once('disconnect', () => process.exit(0))
// The default would end the process, perhaps during another call.
process.on('unhandledRejection', (reason) => post({ kind: 'stray', error: errorFields(reason) }))
// Ctrl-C reaches the whole process group; the server ends this process when it is done.
process.on('SIGINT', () => {})
