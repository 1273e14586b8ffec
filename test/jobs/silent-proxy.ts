/** A TCP proxy whose connections can fall silent, as those of a node that is lost or of a failover. */
import { type AddressInfo, createConnection, createServer, type Socket } from 'node:net'

export interface SilentProxy {
  readonly url: string
  /** From now on the connections that are open carry nothing, and stay open. `isDeaf`: neither do new ones. */
  silence(isDeaf?: boolean): void
  /** New connections work again. */
  heal(): void
  /** New connections go to another server. */
  turnTo(target: string): void
  close(): void
}

/** Forwards to a server of Redis. */
export async function silentProxy(given: string): Promise<SilentProxy> {
  let target = given
  const sockets = new Set<Socket>()
  const silent = new Set<Socket>()
  let isDeaf = false
  const server = createServer((client) => {
    const upstream = createConnection(Number(new URL(target).port), '127.0.0.1')
    const forward = (from: Socket, to: Socket) => {
      sockets.add(from)
      from.on('data', (bytes) => !silent.has(client) && to.write(bytes))
      from.on('close', () => {
        sockets.delete(from)
        if (!silent.has(client)) to.destroy()
      })
      from.on('error', () => {})
    }
    if (isDeaf) silent.add(client)
    forward(client, upstream)
    forward(upstream, client)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    silence(deaf = false) {
      isDeaf = deaf
      for (const socket of sockets) silent.add(socket)
    },
    heal() {
      isDeaf = false
    },
    turnTo(other) {
      target = other
    },
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
