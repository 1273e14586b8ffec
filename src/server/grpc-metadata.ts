/**
 * Metadata of gRPC as headers, and headers as metadata.
 * @module
 */
import type { IncomingHttpHeaders } from 'node:http2'
import { plainAddress } from '../http/client-address.ts'
import { type HeaderLine, HeaderList, type RequestHeaders } from '../http/message.ts'

/** Metadata as they are read, as grpc-js has them. */
export interface TextMetadata {
  getMap(): Readonly<Record<string, unknown>>
  get(name: string): readonly unknown[]
}

// Those of gRPC itself, as grpc-js leaves them out.
const protocolNames = new Set([
  'grpc-timeout',
  'grpc-encoding',
  'grpc-accept-encoding',
  'accept-encoding',
  'te',
  'content-type',
])
const none: readonly unknown[] = []

/** The text metadata of a call among the headers of its stream. */
export class StreamMetadata implements TextMetadata {
  readonly #headers: IncomingHttpHeaders

  constructor(headers: IncomingHttpHeaders) {
    this.#headers = headers
  }

  getMap(): Readonly<Record<string, unknown>> {
    return this.#headers
  }

  get(name: string): readonly unknown[] {
    const value = this.#headers[name]
    if (value === undefined || name.startsWith(':') || name.endsWith('-bin') || protocolNames.has(name)) return none
    return (Array.isArray(value) ? value : [value]).filter(isText)
  }
}

function isText(value: string): boolean {
  return /^[\x20-\x7e]*$/.test(value)
}

/** The text entries of metadata as headers. Listed when one is asked for that is there: most calls have none. */
export class MetadataHeaders implements RequestHeaders {
  readonly #metadata: TextMetadata
  #list: HeaderList | undefined

  constructor(metadata: TextMetadata) {
    this.#metadata = metadata
  }

  get(name: string): string | undefined {
    return this.#metadata.get(name).length === 0 ? undefined : this.#headers.get(name)
  }

  [Symbol.iterator](): Iterator<readonly [string, string]> {
    return this.#headers[Symbol.iterator]()
  }

  get #headers(): HeaderList {
    this.#list ??= listOf(this.#metadata)
    return this.#list
  }
}

function listOf(metadata: TextMetadata): HeaderList {
  const names: string[] = []
  const values: string[] = []
  for (const name of Object.keys(metadata.getMap())) {
    for (const value of metadata.get(name)) {
      if (typeof value !== 'string') continue
      names.push(name)
      values.push(value)
    }
  }
  return new HeaderList(names, values)
}

/** Adds header lines to metadata, but those that gRPC cannot carry. */
export function addLines(metadata: { add(name: string, value: string): void }, lines: readonly HeaderLine[]): void {
  for (const [name, value] of lines) {
    // Names and values were already checked as headers; gRPC reserves some names, and allows only ASCII text.
    if (name === 'content-type' || name.startsWith('grpc-') || name.endsWith('-bin')) continue
    if (isText(value) && /^[0-9a-z_.-]+$/.test(name)) metadata.add(name, value)
  }
}

/** Returns the address of a call's client: `1.2.3.4:80` or `[::1]:80` without the port. */
export function peerOf(call: { getPeer(): string }): string | undefined {
  const address = /^(?:ipv[46]:)?\[?(.*?)\]?:\d+$/.exec(call.getPeer())?.[1]
  return address === undefined ? undefined : plainAddress(address)
}
