import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { fixtureBytes } from '../fixtures/images/pictures.ts'
import { root, serveFile } from './process.ts'

/** Runs a command where `/proc` is an empty folder, in namespaces of its own. */
const withoutProc = ['unshare', '--user', '--map-root-user', '--mount', 'sh', '-c']
const emptied = 'mount -t tmpfs none /proc && test ! -e /proc/self && exec "$@"'
const isPermitted =
  spawnSync(withoutProc[0], [...withoutProc.slice(1), emptied, 'sh', 'true']).status === 0

it.skipIf(!isPermitted).each(['uws', 'node'])(
  'serves in a container without /proc on %s',
  async (engine) => {
    const within = [...withoutProc, emptied, 'sh']
    const service = join(root, 'examples/all/service.ts')
    const { port, child, exited } = await serveFile(
      service,
      ['--workers', '1', '--engine', engine],
      { within },
    )
    const ask = (path: string, init?: RequestInit) => fetch(`http://127.0.0.1:${port}${path}`, init)
    const picture = { method: 'POST', body: fixtureBytes('rgba.png') as Uint8Array<ArrayBuffer> }
    expect((await ask('/negative', picture)).status).toBe(200)
    for (const path of ['/readyz', '/metrics']) expect((await ask(path)).status).toBe(200)
    child.kill('SIGTERM')
    expect(await exited).toEqual({ code: 0, signal: null })
  },
)
