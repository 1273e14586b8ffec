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
const tlsOptions = ['tlsCert', 'tlsKey', 'tlsClientCa'] as const
type TlsOptions = Pick<ServeOptions, (typeof tlsOptions)[number]>

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

/** The files of a server that speaks TLS. */
export type TlsFiles = NonNullable<ReturnType<typeof openTlsFiles>>

/**
 * Polls the files: Kubernetes replaces symbolic links, which watchers lose. A pair that does not match is not served.
 * Undefined without TLS. The caller closes them.
 *
 * @throws InvalidArgument.
 */
export function openTlsFiles(options: TlsOptions, log: Logger) {
  const { tlsCert: certFile, tlsKey: keyFile, tlsClientCa } = options
  const files = [certFile, keyFile, tlsClientCa].filter((file) => file !== undefined)
  if (files.length === 0) return undefined
  if (certFile === undefined || keyFile === undefined) {
    const missing = certFile === undefined ? 'tlsCert' : 'tlsKey'
    throw new InvalidArgument(
      `expected tlsCert and tlsKey together: TLS needs both, and ${missing} is missing`,
    )
  }
  const listeners: ((pem: TlsPem) => void)[] = []
  let pem = readPair(options, files)
  const reload = () => {
    const before = pem
    try {
      const next = readPair(options, files)
      if (isDeepStrictEqual(next, before)) return
      pem = next
      for (const listener of listeners) listener(pem)
      const { subject, validTo } = new X509Certificate(pem.cert)
      const fields = { event: 'tls_reloaded', subject, validTo }
      log.info(fields, `new connections get the certificate that is valid until ${validTo}`)
    } catch (error) {
      pem = before
      const message = (error as Error).message
      log.error({ event: 'tls_not_reloaded' }, `the old certificate stays in use: ${message}`)
    }
  }
  for (const file of files) watchFile(file, { interval: pollMs, persistent: false }, reload)
  return {
    certFile,
    keyFile,
    get pem() {
      return pem
    },
    onChange: (listener: (pem: TlsPem) => void) => void listeners.push(listener),
    close() {
      for (const file of files) unwatchFile(file, reload)
    },
  }
}

function readPair(options: TlsOptions, files: readonly string[]): TlsPem {
  const [cert, key, clientCa] = tlsOptions.map((name) => readPem(name, options[name]))
  const pem = { cert, key, clientCa } as TlsPem
  // Not before, since servers without TLS do not need it.
  const { createSecureContext } = require('node:tls') as typeof import('node:tls')
  try {
    createSecureContext(contextOf(pem))
    if (clientCa !== undefined) new X509Certificate(clientCa)
    return pem
  } catch (cause) {
    const what = `a certificate and its private key, as PEM, in ${files.join(', ')}`
    throw new InvalidArgument(`expected ${what}: ${(cause as Error).message}`, { cause })
  }
}

function readPem(option: string, file: string | undefined): Buffer | undefined {
  if (file === undefined) return undefined
  try {
    return readFileSync(file)
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    const why = code === 'ENOENT' ? 'there is no such file' : message
    throw new InvalidArgument(`${option}: ${file} cannot be read: ${why}`, { cause })
  }
}
