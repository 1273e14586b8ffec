/** Finds a port to listen on by listening on it for a moment. @module */
import { type AddressInfo, createServer } from 'node:net'
import { InvalidArgument } from '../../core/errors.ts'

/**
 * Listens without SO_REUSEPORT: with it, as uWebSockets.js listens, a forgotten process would
 * silently take a share of the requests.
 *
 * @returns a port that a server can listen on: `port` itself, or a free one for 0.
 * @throws InvalidArgument for a port that is taken or not allowed, and for an unknown host.
 */
export function takePort(
  port: number,
  host: string | undefined,
  option = '--port',
): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    // A client that connects at this moment is disconnected and tries again.
    server.on('connection', (socket) => socket.destroy())
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(portProblem(error, port, host, option)),
    )
    server.listen({ port, host, exclusive: true }, () => {
      const address = server.address() as AddressInfo
      server.close(() => resolve(address.port))
    })
  })
}

function portProblem(
  error: NodeJS.ErrnoException,
  port: number,
  host: string | undefined,
  option: string,
): Error {
  const place = host === undefined ? `port ${port}` : `port ${port} of ${host}`
  const message = {
    EADDRINUSE: `${place} is in use: stop the process that listens there, or choose another port with ${option}`,
    EACCES: `${place} needs privileges that this process does not have: choose one from 1024 up with ${option}`,
    EADDRNOTAVAIL: `--host ${host} is no address of this machine`,
    ENOTFOUND: `--host ${host} is unknown: no address found for this name`,
    EAI_AGAIN: `--host ${host} is unknown: no address found for this name`,
  }[error.code ?? '']
  return message === undefined ? error : new InvalidArgument(message, { cause: error })
}
