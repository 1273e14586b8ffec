import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { BadInput, expected, ServingError } from '../errors.ts'
import type { MaybePromise } from '../promise.ts'
import { BinaryFile } from './binary-file.ts'

/** Samples that can be read at once. */
export type ReadySample =
  | Uint8Array
  | string
  | URL
  | { readonly bytes: Uint8Array; readonly name?: string | undefined }

/** What `fromSample` takes for a file. */
export type FileSample = ReadySample | Blob | AsyncIterable<Uint8Array>

/** The content of a sample. */
export interface SampleContent {
  readonly bytes: Uint8Array
  /** Without directories. */
  readonly name?: string | undefined
  /** Undefined if the sample does not state it. */
  readonly mimeType?: string | undefined
}

/**
 * Reads a sample; `owner` names the caller in errors.
 *
 * @throws BadInput if it cannot be read.
 */
export function readSample(sample: FileSample, owner: string): MaybePromise<SampleContent> {
  const fail = (cause: unknown): never => {
    if (ServingError.is(cause)) throw cause
    throw new BadInput(expected('a readable file', owner, sample), { cause })
  }
  try {
    if (sample instanceof Blob) return readBlob(sample).catch(fail)
    if (typeof sample === 'object' && sample !== null && Symbol.asyncIterator in sample) {
      return readStream(sample, owner).catch(fail)
    }
    return readReady(sample, owner)
  } catch (cause) {
    return fail(cause)
  }
}

function readReady(sample: ReadySample, owner: string): SampleContent {
  if (sample instanceof Uint8Array) return { bytes: sample }
  if (typeof sample === 'string') return { bytes: readFileSync(sample), name: basename(sample) }
  if (sample instanceof URL) return readReady(fileURLToPath(sample), owner)
  if (typeof sample !== 'object' || sample === null || !(sample.bytes instanceof Uint8Array)) {
    throw new BadInput(expected('a file, bytes, a path or a stream of bytes', owner, sample))
  }
  const { bytes, name } = sample
  const type = sample instanceof BinaryFile ? sample.mimeType : undefined
  const mimeType = type === 'application/octet-stream' ? undefined : type
  return { bytes, name: typeof name === 'string' ? name : undefined, mimeType }
}

async function readBlob(blob: Blob): Promise<SampleContent> {
  const bytes = new Uint8Array(await blob.arrayBuffer())
  return {
    bytes,
    name: 'name' in blob ? String(blob.name) : undefined,
    mimeType: blob.type || undefined,
  }
}

async function readStream(
  stream: AsyncIterable<Uint8Array>,
  owner: string,
): Promise<SampleContent> {
  const pieces: Uint8Array[] = []
  for await (const piece of stream) {
    if (!(piece instanceof Uint8Array))
      throw new BadInput(expected('a stream of bytes', owner, piece))
    pieces.push(piece)
  }
  // ReadStream has the path that it reads.
  const { path } = stream as { readonly path?: unknown }
  const bytes = Buffer.concat(pieces)
  const hasPath = typeof path === 'string' || path instanceof Buffer
  if (hasPath) return { bytes, name: basename(String(path)) }
  return { bytes }
}
