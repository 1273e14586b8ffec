/** Certificate and key in files, read again when the files change. @module */
import { X509Certificate } from 'node:crypto'
import { readFileSync, unwatchFile, watchFile } from 'node:fs'
import { createRequire } from 'node:module'
import type { SecureContextOptions } from 'node:tls'
import { isDeepStrictEqual } from 'node:util'
import { InvalidArgument } from '../core/errors.ts'
import type { Logger } from './log.ts'
import type { ServeOptions } from './options.ts'

const pollMs = 1_000
const require = createRequire(import.meta.url)

/** The content of the files, as PEM. */
export interface TlsPem {
  readonly cert: Buffer
  readonly key: Buffer
  readonly clientCa: Buffer | undefined
}

/** @returns the content as options of a secure context of Node. */
export function contextOf({ cert, key, clientCa }: TlsPem): SecureContextOptions {
  return { cert, key, ca: clientCa }
}

/** Polled: Kubernetes replaces symbolic links, which watchers lose. A pair that does not match is not served. */
export class TlsFiles {
  readonly certFile: string
  readonly keyFile: string
  readonly #caFile: string | undefined
  readonly #log: Logger
  readonly #listeners: ((pem: TlsPem) => void)[] = []
  readonly #reload = () => this.#readAgain()
  #pem: TlsPem

  constructor(certFile: string, keyFile: string, caFile: string | undefined, log: Logger) {
    this.certFile = certFile
    this.keyFile = keyFile
    this.#caFile = caFile
    this.#log = log
    this.#pem = this.#read()
    for (const file of this.#files)
      watchFile(file, { interval: pollMs, persistent: false }, this.#reload)
  }

  get pem(): TlsPem {
    return this.#pem
  }

  onChange(listener: (pem: TlsPem) => void): void {
    this.#listeners.push(listener)
  }

  close(): void {
    for (const file of this.#files) unwatchFile(file, this.#reload)
  }

  get #files(): string[] {
    return [this.certFile, this.keyFile, this.#caFile].filter((file) => file !== undefined)
  }

  #read(): TlsPem {
    const pem = {
      cert: readPem('tlsCert', this.certFile),
      key: readPem('tlsKey', this.keyFile),
      clientCa: this.#caFile === undefined ? undefined : readPem('tlsClientCa', this.#caFile),
    }
    // Not before, since servers without TLS do not need it.
    const { createSecureContext } = require('node:tls') as typeof import('node:tls')
    try {
      createSecureContext(contextOf(pem))
      if (pem.clientCa !== undefined) new X509Certificate(pem.clientCa)
      return pem
    } catch (cause) {
      const what = `a certificate and its private key, as PEM, in ${this.#files.join(', ')}`
      throw new InvalidArgument(`expected ${what}: ${(cause as Error).message}`, { cause })
    }
  }

  #readAgain(): void {
    const before = this.#pem
    try {
      const pem = this.#read()
      if (isDeepStrictEqual(pem, before)) return
      this.#pem = pem
      for (const listener of this.#listeners) listener(pem)
      const { subject, validTo } = new X509Certificate(pem.cert)
      const fields = { event: 'tls_reloaded', subject, validTo }
      this.#log.info(fields, `new connections get the certificate that is valid until ${validTo}`)
    } catch (error) {
      this.#pem = before
      const message = (error as Error).message
      this.#log.error({ event: 'tls_not_reloaded' }, `the old certificate stays in use: ${message}`)
    }
  }
}

/**
 * Undefined without TLS. The caller closes them.
 *
 * @throws InvalidArgument.
 */
export function openTlsFiles(options: ServeOptions, log: Logger): TlsFiles | undefined {
  const { tlsCert, tlsKey, tlsClientCa } = options
  if (tlsCert === undefined && tlsKey === undefined && tlsClientCa === undefined) return undefined
  if (tlsCert === undefined || tlsKey === undefined) {
    const missing = tlsCert === undefined ? 'tlsCert' : 'tlsKey'
    throw new InvalidArgument(
      `expected tlsCert and tlsKey together: TLS needs both, and ${missing} is missing`,
    )
  }
  return new TlsFiles(tlsCert, tlsKey, tlsClientCa, log)
}

function readPem(option: string, file: string): Buffer {
  try {
    return readFileSync(file)
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    const why = code === 'ENOENT' ? 'there is no such file' : message
    throw new InvalidArgument(`${option}: ${file} cannot be read: ${why}`, { cause })
  }
}
