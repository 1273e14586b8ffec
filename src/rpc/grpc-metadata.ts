/** Metadata of gRPC as headers, and headers as metadata. @module */
import type { IncomingHttpHeaders } from 'node:http2'
import { type HeaderLine, HeaderList } from '../http/message.ts'
import { timeoutHeader } from '../http/timeout-header.ts'

const protocolNames = new Set([
  timeoutHeader,
  'grpc-encoding',
  'grpc-accept-encoding',
  'accept-encoding',
  'te',
  'content-type',
])

/** @returns text metadata as headers. */
export function headersOf(metadata: IncomingHttpHeaders): HeaderList {
  const names: string[] = []
  const values: string[] = []
  for (const [name, value = []] of Object.entries(metadata)) {
    if (name.startsWith(':') || name.endsWith('-bin') || protocolNames.has(name)) continue
    for (const text of [value].flat()) {
      if (!isText(text)) continue
      names.push(name)
      values.push(text)
    }
  }
  return new HeaderList(names, values)
}

function isText(value: string): boolean {
  return /^[\x20-\x7e]*$/.test(value)
}

/** Omits headers that gRPC cannot carry. */
export function metadataOf(lines: readonly HeaderLine[]): Record<string, string | string[]> {
  const metadata: Record<string, string | string[]> = {}
  for (const [name, value] of lines) {
    // gRPC reserves some names, and allows only ASCII text.
    if (name === 'content-type' || name.startsWith('grpc-') || name.endsWith('-bin')) continue
    if (!isText(value) || !/^[0-9a-z_.-]+$/.test(name)) continue
    if (name === 'set-cookie') metadata[name] = [...(metadata[name] ?? []), value]
    else metadata[name] = name in metadata ? `${metadata[name]}, ${value}` : value
  }
  return metadata
}

/** Longer timers end at once. **Units**: milliseconds. */
export const maxTimeoutMs = 0x7fffffff
