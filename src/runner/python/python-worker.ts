/** A worker that is a process of Python. @module */
import { spawn } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { createInterface } from 'node:readline'
import type { Duplex, Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { InOrder } from '../../core/promise.ts'
import { type ChildLink, ChildWorker, killGroup, type OpenLink, type Up } from '../child-worker.ts'
import { deviceEnv, type StartWorker } from '../worker.ts'
import { encodeFrame, frameReader } from './frames.ts'
import { SharedFile } from './shared-file.ts'

const program = fileURLToPath(new URL('./model_worker.py', import.meta.url))
/** Longer printed lines are cut at this length. **Units**: characters. */
const maxLine = 8192

/**
 * It leads a process group, which ends with ours, even if ours is killed.
 *
 * @returns what starts a Python process.
 */
export function startPython(executable: string): StartWorker {
  return (options, index) => new ChildWorker(options, index, (...link) => open(executable, ...link))
}

function open(executable: string, ...[options, index, receive]: Parameters<OpenLink>): ChildLink {
  const { count, concurrency, memoryLimitMb, deviceIds } = options
  const down = new SharedFile()
  const up = new SharedFile()
  const child = spawn(
    executable,
    ['-u', program, String(concurrency), String(memoryLimitMb ?? 0)],
    {
      stdio: ['pipe', 'pipe', 'pipe', 'pipe', down.fd ?? 'ignore', up.fd ?? 'ignore'],
      detached: true,
      env: {
        OMP_NUM_THREADS: String(Math.max(1, Math.floor(availableParallelism() / count))),
        ...process.env,
        ...deviceEnv(deviceIds, index),
        RUNNER_INDEX: String(index),
        PYTHONIOENCODING: 'utf-8:backslashreplace',
      },
    },
  )
  const [input, output, errors, socket] = child.stdio as unknown as [
    Writable,
    Readable,
    Readable,
    Duplex,
  ]
  const kill = () => killGroup(child)
  const fail = (way: string) => (error: unknown) => {
    const text = `a message ${way} the process ${child.pid} failed: ${(error as Error).message}`
    receive({ kind: 'printed', text })
    kill()
  }
  const take = (message: unknown, freed: readonly number[]) => {
    down.free(freed)
    receive(message as Up)
  }
  const reader = frameReader(up, take, fail('from'))
  const frames = new InOrder()
  socket.on('data', (chunk: Buffer) => {
    try {
      reader.write(chunk)
    } catch (error) {
      fail('from')(error)
    }
  })
  for (const stream of [input, socket]) stream.on('error', () => {})
  for (const stream of [output, errors]) {
    createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY }).on('line', (line) => {
      for (let at = 0; at === 0 || at < line.length; at += maxLine) {
        receive({ kind: 'printed', text: line.slice(at, at + maxLine) })
      }
    })
  }
  child.once('exit', () => {
    kill()
    down.close()
    up.close()
  })
  const handles = [child, input, output, errors, socket] as unknown as readonly {
    ref(): void
    unref(): void
  }[]
  return {
    process: child,
    post(message, transfer) {
      if (socket.destroyed || child.exitCode !== null || child.signalCode !== null) return undefined
      const frame = encodeFrame(message, transfer, down, reader.takeFreed())
      frames.add(frame, (bytes) => void socket.write(bytes), fail('to'))
      return undefined
    },
    close: () => void socket.end(),
    kill,
    ref() {
      for (const handle of handles) handle.ref()
    },
    unref() {
      for (const handle of handles) handle.unref()
    },
  }
}
