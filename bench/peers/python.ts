/**
 * Servers written in Python, run from the environments that `bench/peers/python/install.sh` makes.
 * @module
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort, type PeerServer, startPeer } from './start.ts'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))

interface Peer {
  readonly args: (port: string, grpcPort: string) => string[]
  /** The path that answers 200 once requests are served. */
  readonly health: string
  /**
   * Where its packages are.
   *
   * @default its own
   */
  readonly environment?: string
}

/** What Triton's backend computes for a picture: no variable of ours names folders of modules for its interpreter. */
const labelOfBytes =
  `[path not in sys.path and sys.path.append(path) for path in ["${here('python')}"]]` +
  ' and __import__("shapes").labels(x)'

/** The command of each: the production command of its documentation with one worker and no access log. */
const peers: Readonly<Record<string, Peer>> = {
  fastapi: {
    args: (port) => [
      '-m',
      'uvicorn',
      'fastapi_app:app',
      '--host',
      '127.0.0.1',
      '--port',
      port,
      '--no-access-log',
    ],
    health: '/openapi.json',
  },
  bentoml: {
    args(port) {
      const at = ['--host', '127.0.0.1', '--port', port]
      return [
        '-m',
        'bentoml',
        'serve-http',
        'bentoml_service:svc',
        '--production',
        '--api-workers',
        '1',
        ...at,
      ]
    },
    health: '/readyz',
  },
  litserve: { args: (port) => ['litserve_app.py', port], health: '/health' },
  mlserver: {
    args: () => ['-m', 'mlserver.cli.main', 'start', 'mlserver_model'],
    health: '/v2/health/ready',
  },
  triton: {
    args(port, grpcPort) {
      const models = [
        'rows:TYPE_FP32:-1,4',
        'picture:TYPE_FP32:-1,3,224,224',
        `shapes:TYPE_STRING:1:${labelOfBytes}`,
      ]
      return ['../../../test/oip/python/triton.py', port, grpcPort, ...models]
    },
    health: '/v2/health/ready',
  },
  'texts-bentoml': {
    environment: 'texts',
    args: (port) => ['-m', 'bentoml', 'serve', 'texts_bentoml:Service', '--port', port],
    health: '/readyz',
  },
  'texts-triton': {
    environment: 'triton',
    args: (port, grpcPort) => ['texts_triton.py', port, grpcPort],
    health: '/v2/health/ready',
  },
}

/** Returns the interpreter of a peer, or why there is none. BENCH_PYTHON names the folder of the environments. */
export function findPython(peer: string): { readonly python: string; readonly missing?: string } {
  const python = join(process.env.BENCH_PYTHON ?? here('../.venv'), peer, 'bin', 'python')
  return existsSync(python)
    ? { python }
    : { python, missing: 'not installed: bench/peers/python/install.sh' }
}

/** Starts a peer and waits until it answers. **Errors**: an Error with its output when it ends before that. */
export function startPython(peer: string): Promise<PeerServer> {
  const { args, health, environment = peer } = peers[peer]
  return startPeer({
    name: peer,
    program: findPython(environment).python,
    args,
    cwd: here('python'),
    health,
    env: async (port, grpcPort, scratch) => ({
      BENTOML_DO_NOT_TRACK: 'True',
      ...(peer === 'bentoml' && { BENTOML_CONFIG: here('python/bentoml_configuration.yaml') }),
      MLSERVER_HTTP_PORT: port,
      MLSERVER_GRPC_PORT: grpcPort,
      MLSERVER_METRICS_PORT: await freePort(),
      MLSERVER_METRICS_DIR: scratch,
      MLSERVER_ENVIRONMENTS_DIR: scratch,
      PYTHONDONTWRITEBYTECODE: '1',
    }),
  })
}
