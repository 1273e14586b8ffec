/**
 * Servers written in compiled languages, built by the install script beside their source.
 * @module
 */
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type PeerServer, startPeer } from './start.ts'

/** Returns the program of a peer, or why there is none. */
export function findProgram(peer: string): { readonly program: string; readonly missing?: string } {
  const program = fileURLToPath(new URL(`../.venv/${peer}/server`, import.meta.url))
  return existsSync(program)
    ? { program }
    : { program, missing: `not built: bench/peers/${peer}/install.sh` }
}

/** Starts a peer on one core, as its processor. **Errors**: an Error with its output when it does not answer. */
export function startProgram(peer: string): Promise<PeerServer> {
  return startPeer({
    name: peer,
    program: findProgram(peer).program,
    args: (port) => [port],
    cwd: fileURLToPath(new URL(`./${peer}/`, import.meta.url)),
    health: '/healthz',
    // One core is theirs, whatever the machine has.
    env: async () => ({ GOMAXPROCS: '1' }),
  })
}
