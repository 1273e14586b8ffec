/** The thread of `file-decoder.ts`: decodes files of clients one after another, to columns, or encodes some. @module */
import { parentPort } from 'node:worker_threads'
import { errorText, MissingDependencyException } from '../../core/errors.ts'
import { requireNames } from './arrow/arrow-columns.ts'
import { readArrowIpc } from './arrow/arrow-reader.ts'
import { encodeArrow } from './arrow/arrow-writer.ts'
import { damagedFile, FileRefusal, tooMuch } from './arrow/file-refusal.ts'
import { type AnyColumn, buffersOf, type ColumnTable, tableBytes } from './columns.ts'
import type { EncodeRequest, FileAnswer, FileRequest } from './file-decoder.ts'
import { bytesAsInt96, int96AsBytes } from './parquet/int96.ts'
import { checkReadable } from './parquet/parquet-diagnosis.ts'
import { aboveLimit, readParquetFooter } from './parquet/parquet-footer.ts'
import {
  maxWasmBytes,
  type ParquetInstance,
  parquetInstance,
} from './parquet/parquet-wasm-package.ts'
import { unpackBuffers } from './parquet/unpack-buffers.ts'

const loaded = await parquetInstance().catch((error: Error) => error)

function instance(): ParquetInstance {
  if (loaded instanceof Error) throw loaded
  return loaded
}

function decodeArrow({ file, limits }: FileRequest): ColumnTable<AnyColumn> {
  return readArrowIpc(file, limits.maxDecodedBytes, (codec, parts) =>
    told(() => unpackBuffers(instance(), codec, parts)),
  )
}

function decodeParquet({ file, limits }: FileRequest): ColumnTable<AnyColumn> {
  const footer = readParquetFooter(file)
  if ('failure' in footer) throw new FileRefusal(footer.failure)
  const above = aboveLimit(footer, limits)
  if (above !== undefined) throw new FileRefusal(above, true)
  const { metadata } = footer
  checkReadable(metadata)
  const top = metadata.elements.filter(({ depth }) => depth === 1)
  requireNames(top.map(({ path }) => path))
  const bytes = int96AsBytes(file, metadata)
  const stream = told(() => instance().read(bytes, metadata.rows, limits.maxDecodedBytes))
  if (stream === 'too large' || stream.length > limits.maxDecodedBytes) throw tooMuch()
  const table = readArrowIpc(stream, limits.maxDecodedBytes, () => [])
  if (table.rows !== metadata.rows)
    throw new FileRefusal(`one of ${table.rows} rows where its footer says ${metadata.rows}`)
  return { ...table, columns: bytesAsInt96(table.columns, table.rows, metadata) }
}

/**
 * Runs work of arrow-rs.
 *
 * @throws FileRefusal with its message, and all others that the work throws.
 */
function told<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    // Of a class of its own are traps, the end of the stack, and errors of the package itself after one of them.
    if (!(error instanceof Error) || error.constructor !== Error) throw error
    throw damagedFile(reasonOf(error))
  }
}

const maxReason = 200

function reasonOf(error: unknown): string {
  return errorText(error)
    .replaceAll(/[^\x20-\x7e]+/g, ' ')
    .slice(0, maxReason)
}

function resultOf(request: FileRequest | EncodeRequest): ColumnTable<AnyColumn> | Uint8Array {
  if ('table' in request) {
    const stream = encodeArrow(request.table, Buffer.allocUnsafeSlow)
    return told(() => instance().write(stream, request.notes))
  }
  const table = request.isArrow ? decodeArrow(request) : decodeParquet(request)
  if (tableBytes(table) > request.limits.maxDecodedBytes) throw tooMuch()
  return table
}

type Answer = FileAnswer<ReturnType<typeof resultOf>>

function answerTo(request: FileRequest | EncodeRequest): Answer {
  try {
    return { kind: 'done', result: resultOf(request), heldBytes: heldBytes() }
  } catch (error) {
    if (error instanceof FileRefusal) {
      const { message, isTooLarge } = error
      return { kind: 'refused', received: message, isTooLarge, heldBytes: heldBytes() }
    }
    if (error instanceof MissingDependencyException)
      return { kind: 'missing', message: error.message, heldBytes: Number.POSITIVE_INFINITY }
    // A trap is how arrow-rs ends where no memory is left. The instance is of no use afterwards.
    return {
      kind: 'refused',
      received: `one that cannot be decoded in ${maxWasmBytes} bytes of memory`,
      isTooLarge: true,
      cause: reasonOf(error),
      heldBytes: Number.POSITIVE_INFINITY,
    }
  }
}

const heldBytes = () => (loaded instanceof Error ? 0 : loaded.memoryBytes())

parentPort?.on('message', (request: FileRequest | EncodeRequest) => {
  const answer = answerTo(request)
  const isTable = answer.kind === 'done' && 'columns' in answer.result
  const memory = isTable ? [...buffersOf(answer.result.columns)] : []
  parentPort?.postMessage(answer, memory)
})
parentPort?.postMessage('ready')
