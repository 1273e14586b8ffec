/**
 * Follows the connections that the supervisor hands to workers: those of the node engine and of gRPC.
 * @module
 */
import type { Worker } from 'node:cluster'

interface Handle {
  close(): void
}

/** A connection that is not acknowledged within this time counts as lost. **Units**: milliseconds. */
const acknowledgeMs = 5_000

/**
 * Closes connections that a worker has not acknowledged when it ends or after 5 s, so that it can be handed the next
 * one.
 *
 * The parent hands a connection over with a message, closes its own end when the worker has answered, and hands the
 * worker no other one before that. Two cases leave that wait open for ever in node:cluster (Node 20.20): a worker that
 * dies before it answers, and one without a free file descriptor, which loses the message with the descriptor, so that
 * its port is dead for good. A worker that is only busy already has the connection and will serve it.
 *
 * The messages are internal to node:cluster: if they change, this finds nothing and does nothing.
 * `onLost` is called for each connection that was not acknowledged in time.
 */
export function closeLostConnections(worker: Worker, onLost: () => void): void {
  const child = worker.process
  const unacknowledged = new Map<number, { readonly handle: Handle; readonly timer: NodeJS.Timeout }>()
  const send = child.send.bind(child) as (...args: unknown[]) => boolean
  child.send = ((message: { readonly act?: string; readonly seq?: number }, handle?: Handle, ...rest: unknown[]) => {
    const { act, seq } = message
    if (act === 'newconn' && seq !== undefined && handle !== undefined) {
      const giveUp = () => {
        onLost()
        // Answers as the worker itself would: node:cluster closes the connection and goes on.
        child.emit('internalMessage', { cmd: 'NODE_CLUSTER', ack: seq, accepted: true })
      }
      unacknowledged.set(seq, { handle, timer: setTimeout(giveUp, acknowledgeMs).unref() })
    }
    return send(message, handle, ...rest)
  }) as typeof child.send
  child.on('internalMessage', ({ ack }: { readonly ack?: number }) => {
    if (ack === undefined) return
    clearTimeout(unacknowledged.get(ack)?.timer)
    unacknowledged.delete(ack)
  })
  child.on('close', () => {
    for (const { handle, timer } of unacknowledged.values()) {
      clearTimeout(timer)
      handle.close()
    }
  })
}
