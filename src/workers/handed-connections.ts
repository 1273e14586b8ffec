/**
 * Closes connections that were handed to a worker of the node engine which died.
 * @module
 */
import type { Worker } from 'node:cluster'

interface Handle {
  close(): void
}

/**
 * Closes, when a worker ends, the connections that it has not acknowledged.
 *
 * The parent hands each connection over with a message and closes its own end when the worker has answered. When the
 * worker dies before that, node:cluster keeps the parent's end open for ever, and the client waits as long: on Node
 * 20.20, under 4 clients, one of them for each worker killed, and none with this. The messages are internal ones of
 * node:cluster: should they change, this finds nothing and does nothing.
 */
export function closeLostConnections(worker: Worker): void {
  const child = worker.process
  const unacknowledged = new Map<number, Handle>()
  const send = child.send.bind(child) as (...args: unknown[]) => boolean
  child.send = ((message: { readonly act?: string; readonly seq?: number }, handle?: Handle, ...rest: unknown[]) => {
    if (message.act === 'newconn' && message.seq !== undefined && handle !== undefined)
      unacknowledged.set(message.seq, handle)
    return send(message, handle, ...rest)
  }) as typeof child.send
  child.on('internalMessage', (message: { readonly ack?: number }) => {
    if (message.ack !== undefined) unacknowledged.delete(message.ack)
  })
  child.on('close', () => {
    for (const handle of unacknowledged.values()) handle.close()
  })
}
