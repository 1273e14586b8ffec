/**
 * The servers of the public benchmarks, each on one core.
 * @module
 */
import { fileURLToPath } from 'node:url'
import { type PeerServer, startPeer } from '../peers/start.ts'
import { installed } from './load.ts'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))

/** `serving serve` with one worker. With `isPython`, the model of iris is scikit-learn's. */
export function startServing(isPython = false): Promise<PeerServer> {
  const options = [
    '--host',
    '127.0.0.1',
    '--workers',
    '1',
    '--log-level',
    'fatal',
    '--access-log',
    'off',
  ]
  return startPeer({
    name: 'serving',
    program: process.execPath,
    args: (port, grpcPort) => [
      here('../../dist/cli/main.js'),
      'serve',
      here('public.service.ts'),
      '--port',
      port,
      '--grpc-port',
      grpcPort,
      ...options,
    ],
    cwd: here('.'),
    health: '/readyz',
    env: async () => ({
      NODE_ENV: 'production',
      ...(isPython && { PUBLIC_PYTHON: installed('public-mlserver/bin/python') }),
    }),
  })
}

/** LitServe with its server of streams. */
export function startLitserve(): Promise<PeerServer> {
  return startPeer({
    name: 'litserve',
    program: installed('public/bin/python'),
    args: (port) => ['litserve_stream.py', port],
    cwd: here('python'),
    health: '/health',
  })
}

/** MLServer with its scikit-learn runtime and the settings of its benchmark. */
export function startMlserver(): Promise<PeerServer> {
  return startPeer({
    name: 'mlserver',
    program: installed('public-mlserver/bin/python'),
    args: () => ['-m', 'mlserver.cli.main', 'start', 'mlserver'],
    cwd: here('iris'),
    health: '/v2/models/iris/ready',
    env: async (port, grpcPort, scratch) => ({
      MLSERVER_HTTP_PORT: port,
      MLSERVER_GRPC_PORT: grpcPort,
      MLSERVER_ENVIRONMENTS_DIR: scratch,
    }),
  })
}

/** KServe's server for Python with the model of scikit-learn. */
export function startKserve(): Promise<PeerServer> {
  return startPeer({
    name: 'kserve',
    program: installed('public-kserve/bin/python'),
    args: (port) => ['kserve_iris.py', port, installed('iris')],
    cwd: here('python'),
    health: '/v1/models/sklearn-iris',
  })
}

/** A server that speaks gRPC alone, and gets its port. */
export function startGreeter(
  name: string,
  program: string,
  args: (port: string) => string[],
): Promise<PeerServer> {
  return startPeer({
    name,
    program,
    args: (_, grpcPort) => args(grpcPort),
    cwd: here('.'),
    env: async () => ({ GOMAXPROCS: '1' }),
  })
}
