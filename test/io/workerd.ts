/** Programs as Workers on workerd, where it is. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundleOf } from './web-bundle.ts'

/** The program; `WORKERD` names another one. */
export const workerd = process.env.WORKERD ?? 'workerd'

const config = (port: number) => `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "worker", worker = .worker)],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "worker")],
);
const worker :Workerd.Worker = (
  modules = [(name = "worker", esModule = embed "worker.js")],
  compatibilityDate = "2025-06-01",
  # Tells a Worker that its client has left.
  compatibilityFlags = ["enable_request_signal"],
);
`

/** Starts a program, which listens soon. */
export async function startWorker(program: string, port: number): Promise<ChildProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'serving-worker-'))
  writeFileSync(join(folder, 'worker.js'), (await bundleOf(program, 'workerd')).text)
  writeFileSync(join(folder, 'config.capnp'), config(port))
  const child = spawn(workerd, ['serve', join(folder, 'config.capnp')], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  child.once('close', () => rmSync(folder, { recursive: true, force: true }))
  return child
}

/** Resolves when somebody listens on a port. */
export async function listens(url: string, child: ChildProcess): Promise<void> {
  for (;;) {
    try {
      await fetch(url)
      return
    } catch (error) {
      if (child.exitCode !== null) throw error
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
}
