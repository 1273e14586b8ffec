/**
 * Work on pixels in a thread of its own, so that the event loop never walks over them. The thread takes turns between
 * pictures. Memory moves there and back. @module
 */
import { Worker } from 'node:worker_threads'
import { InternalError } from '../../core/errors.ts'
import { Questions } from '../../core/questions.ts'
import type { PixelAnswer, PixelMessage, PixelWorks } from './pixel-thread.ts'
import { type Pixels, presentPixels, type RasterMode } from './raster-modes.ts'
import { inTurns } from './turn.ts'

type Given<W extends keyof PixelWorks> =
  Parameters<PixelWorks[W]> extends [AbortSignal, ...infer G] ? G : never
type Result<W extends keyof PixelWorks> = Awaited<ReturnType<PixelWorks[W]>>

/** The thread, which starts with work, and ends when it has had nothing to do: garbage of pixels is large. */
export class PixelThread {
  readonly #idleMs: number
  #running: { readonly thread: Worker; readonly questions: Questions } | undefined
  #idle: NodeJS.Timeout | undefined

  constructor(idleMs: number) {
    this.#idleMs = idleMs
  }

  get isRunning(): boolean {
    return this.#running !== undefined
  }

  /**
   * Runs work of the thread. The memory that moves there must be whole buffers.
   *
   * @throws those of the work; InternalError if the thread dies; the signal's reason.
   */
  async run<W extends keyof PixelWorks>(
    work: W,
    given: Given<W>,
    moved: readonly Uint8Array[],
    signal: AbortSignal | undefined,
  ): Promise<Result<W>> {
    signal?.throwIfAborted()
    clearTimeout(this.#idle)
    this.#running ??= this.#start()
    const { thread, questions } = this.#running
    const send = (message: PixelMessage, memory: ArrayBuffer[] = []) =>
      thread.postMessage(message, memory)
    let onAbort = () => {}
    thread.ref()
    try {
      const result = await questions.ask<Result<W>>((id) => {
        onAbort = () => send({ id })
        signal?.addEventListener('abort', onAbort)
        const memory = moved.map(({ buffer }) => buffer as ArrayBuffer)
        send({ id, work, given }, memory)
      })
      signal?.throwIfAborted()
      return result
    } catch (error) {
      signal?.throwIfAborted()
      throw error
    } finally {
      signal?.removeEventListener('abort', onAbort)
      if (questions.size === 0) this.#rest(thread)
    }
  }

  #rest(thread: Worker): void {
    thread.unref()
    this.#idle = setTimeout(() => {
      if (this.#running?.thread === thread) this.#running = undefined
      void thread.terminate()
    }, this.#idleMs).unref()
  }

  #start() {
    // The compiled module, also in tests: Node 20 runs no TypeScript in threads.
    const isSource = import.meta.url.endsWith('.ts')
    const entry = isSource ? '../../../dist/values/image/pixel-thread.js' : './pixel-thread.js'
    const thread = new Worker(new URL(entry, import.meta.url), { execArgv: [] })
    const questions = new Questions()
    const end = (cause?: unknown) => {
      if (this.#running?.thread === thread) this.#running = undefined
      questions.end(new InternalError('the thread for the pixels of pictures ended', { cause }))
    }
    thread.on('message', ({ id, error, result }: PixelAnswer) => {
      if (error === undefined) questions.answer(id, result)
      else questions.refuse(id, error)
    })
    thread.once('error', end)
    thread.once('exit', () => end())
    return { thread, questions }
  }
}

/** The thread for all pictures. */
export const pixelThread = new PixelThread(30_000)

/** A byte is copied faster than a pixel is computed: the part of a pixel that it counts in a turn. */
const sizeOfByte = 0.25

/**
 * @returns a copy that can move, made in turns.
 * @throws TypeError if the bytes move; the signal's reason.
 */
export async function copyBytes(bytes: Uint8Array, signal?: AbortSignal): Promise<Uint8Array> {
  const copy = new Uint8Array(Buffer.allocUnsafeSlow(bytes.length).buffer)
  await inTurns(
    bytes.length,
    signal,
    (from, to) => copy.set(bytes.subarray(from, to), from),
    sizeOfByte,
  )
  return copy
}

/**
 * @returns a copy of pixels as {@link copyBytes} does.
 * @throws InvalidArgument if they are gone.
 */
export async function copyPixels(pixels: Pixels, signal?: AbortSignal): Promise<Pixels> {
  const present = presentPixels(pixels)
  return { ...present, data: await copyBytes(present.data, signal) }
}

/**
 * They move if `takes`, else a copy does.
 *
 * @returns pixels in the last of some modes, through all of them.
 */
export async function convertPixels(
  pixels: Pixels,
  modes: readonly RasterMode[],
  signal?: AbortSignal,
  takes = false,
): Promise<Pixels> {
  const source = takes ? pixels : await copyPixels(pixels, signal)
  return pixelThread.run('convert', [source, modes], [source.data], signal)
}
