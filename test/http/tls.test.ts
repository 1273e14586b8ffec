import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { TLSSocket } from 'node:tls'
import { fileURLToPath } from 'node:url'
import { credentials } from '@grpc/grpc-js'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { EngineName } from '../../src/engine/options.ts'
import { GrpcClient } from '../rpc/harness.ts'
import { bothEngines, bytes, type Running, start } from './harness.ts'

// Files are looked at every 20 ms instead of every second.
vi.mock('node:fs', async (importFs) => {
  const fs = await importFs<typeof import('node:fs')>()
  const watchFile = (file: string, options: object, listener: () => void) =>
    fs.watchFile(file, { ...options, interval: 20 }, listener)
  return { ...fs, watchFile }
})

const fixture = (name: string) =>
  fileURLToPath(new URL(`../fixtures/tls/${name}.pem`, import.meta.url))
const pem = (name: string) => readFileSync(fixture(name))
const certs = { cert: pem('cert'), other: pem('other-cert') }

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true })
})

/** Returns a folder with a certificate and its key, which a test may replace. */
function tlsFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'serving-tls-'))
  folders.push(folder)
  const tlsCert = join(folder, 'cert.pem')
  const tlsKey = join(folder, 'key.pem')
  copyFileSync(fixture('cert'), tlsCert)
  copyFileSync(fixture('key'), tlsKey)
  return { tlsCert, tlsKey }
}

interface Answer {
  readonly text: string
  /** Common name of the server's certificate. */
  readonly name: string
  readonly localPort: number
}

/** Posts to the echo API as curl would with that CA; the code of the error when there is no answer. */
function post(
  port: number,
  options: { ca?: Buffer; cert?: Buffer; key?: Buffer; agent?: Agent } = {},
): Promise<Answer | string> {
  return new Promise((resolve) => {
    const sent = request({
      port,
      host: '127.0.0.1',
      path: '/echo',
      method: 'POST',
      agent: false,
      ...options,
    })
    sent.on('response', (response) => {
      const socket = response.socket as TLSSocket
      const { localPort = 0 } = socket
      const name = String(socket.getPeerCertificate().subject.CN)
      let text = ''
      response.setEncoding('latin1').on('data', (piece: string) => {
        text += piece
      })
      response.on('end', () => resolve({ text, name, localPort }))
    })
    sent.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    sent.setHeader('content-type', 'application/octet-stream')
    sent.end('héllo')
  })
}

const startTls = (engine: EngineName, options: Parameters<typeof start>[2]) =>
  start(engine, (svc) => svc.api({ ...bytes, name: 'echo' }, (body) => body), options)

/** Asks until the answer comes with this certificate; a bounded number of times. */
async function untilCertificate(port: number, ca: Buffer): Promise<Answer> {
  for (let tries = 0; tries < 300; tries++) {
    const answer = await post(port, { ca })
    if (typeof answer !== 'string') return answer
    await wait(50)
  }
  throw new Error('the new certificate was never served')
}

const logged = ({ log }: Running, event: string) => log.filter((line) => line.event === event)

describe.each(bothEngines)('TLS of the engine %s', (engine) => {
  it('answers clients that trust the certificate, and no others', async () => {
    const { port } = await startTls(engine, tlsFolder())
    expect(await post(port, { ca: certs.cert })).toMatchObject({
      text: Buffer.from('héllo').toString('latin1'),
    })
    expect(await post(port)).toBe('DEPTH_ZERO_SELF_SIGNED_CERT')
    expect(await post(port, { ca: certs.other })).toBe('DEPTH_ZERO_SELF_SIGNED_CERT')
  })

  it('speaks no plain text', async () => {
    const running = await startTls(engine, tlsFolder())
    const raw = await running.connect()
    raw.write('POST /echo HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\nhi')
    await raw.closed
    expect(raw.received).not.toMatch(/^HTTP\/1.1 200/)
  })

  it('serves the certificate of replaced files to new connections, and keeps the open ones', async () => {
    const files = tlsFolder()
    const running = await startTls(engine, files)
    const { port } = running
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const kept = (await post(port, { ca: certs.cert, agent })) as Answer
    copyFileSync(fixture('other-cert'), files.tlsCert)
    copyFileSync(fixture('other-key'), files.tlsKey)
    expect((await untilCertificate(port, certs.other)).name).toBe('localhost other-')
    expect(await post(port, { ca: certs.cert })).toBe('DEPTH_ZERO_SELF_SIGNED_CERT')
    const again = (await post(port, { ca: certs.cert, agent })) as Answer
    expect(again).toMatchObject({ name: 'localhost', localPort: kept.localPort })
    expect(logged(running, 'tls_reloaded')).toMatchObject([{ subject: 'CN=localhost other-' }])
    // And once more, back to the first ones.
    copyFileSync(fixture('cert'), files.tlsCert)
    copyFileSync(fixture('key'), files.tlsKey)
    expect((await untilCertificate(port, certs.cert)).name).toBe('localhost')
    agent.destroy()
  })

  it('fails no request of clients that connect anew for each while files are replaced', async () => {
    const files = tlsFolder()
    const running = await startTls(engine, files)
    const both = Buffer.concat([certs.cert, certs.other])
    const failures: string[] = []
    const names = new Set<string>()
    let stop = false
    const client = async () => {
      while (!stop) {
        const answer = await post(running.port, { ca: both })
        if (typeof answer === 'string') failures.push(answer)
        else names.add(answer.name)
      }
    }
    const clients = Promise.all([client(), client(), client(), client()])
    while (names.size === 0) await wait(5)
    copyFileSync(fixture('other-cert'), files.tlsCert)
    copyFileSync(fixture('other-key'), files.tlsKey)
    await untilCertificate(running.port, certs.other)
    stop = true
    await clients
    expect(failures).toEqual([])
    expect(names).toContain('localhost')
  })

  it('goes on with the certificate that it has while the new one does not belong to the key', async () => {
    const files = tlsFolder()
    const running = await startTls(engine, files)
    // The files are looked at first in a thread, which a busy machine may let wait.
    await post(running.port, { ca: certs.cert })
    copyFileSync(fixture('other-cert'), files.tlsCert)
    while (logged(running, 'tls_not_reloaded').length === 0) await wait(50)
    expect(await post(running.port, { ca: certs.cert })).toMatchObject({ name: 'localhost' })
    copyFileSync(fixture('other-key'), files.tlsKey)
    expect((await untilCertificate(running.port, certs.other)).name).toBe('localhost other-')
  })

  it('gives gRPC the same certificate, renewed as well', async () => {
    const files = tlsFolder()
    const { port, listener } = await startTls(engine, { ...files, grpcPort: 0 })
    const failureOf = async (ca: Buffer) => {
      const client = new GrpcClient(
        listener.grpcPort as number,
        undefined,
        credentials.createSsl(ca),
      )
      const { error } = await client.call('missing', { field: 'text', message: 'x' })
      client.close()
      return error?.code
    }
    expect(await failureOf(certs.cert)).toBe(5)
    expect(await failureOf(certs.other)).toBe(14)
    copyFileSync(fixture('other-cert'), files.tlsCert)
    copyFileSync(fixture('other-key'), files.tlsKey)
    await untilCertificate(port, certs.other)
    expect(await failureOf(certs.other)).toBe(5)
    expect(await failureOf(certs.cert)).toBe(14)
  })

  it('refuses to start without the key, without the file, with what is none, and with the key of another', async () => {
    const files = tlsFolder()
    await expect(startTls(engine, { tlsCert: files.tlsCert })).rejects.toThrow('tlsKey is missing')
    await expect(startTls(engine, { ...files, tlsKey: '/nowhere.pem' })).rejects.toThrow(
      'tlsKey: /nowhere.pem cannot be read: there is no such file',
    )
    await expect(startTls(engine, { ...files, tlsKey: fixture('other-key') })).rejects.toThrow(
      'key values mismatch',
    )
    writeFileSync(files.tlsCert, 'x')
    await expect(startTls(engine, files)).rejects.toThrow(
      'expected a certificate and its private key, as PEM',
    )
  })
})

describe('certificates of clients', () => {
  it('are asked for by engine node: without one, or with another, there is no answer', async () => {
    const { port } = await startTls('node', { ...tlsFolder(), tlsClientCa: fixture('other-cert') })
    const ca = certs.cert
    expect(await post(port, { ca, cert: certs.other, key: pem('other-key') })).toMatchObject({
      name: 'localhost',
    })
    expect(await post(port, { ca })).toMatch(/ERR_SSL|ECONNRESET/)
    expect(await post(port, { ca, cert: certs.cert, key: pem('key') })).toMatch(
      /ERR_SSL|ECONNRESET/,
    )
  })

  it.runIf(bothEngines.includes('uws'))(
    'are refused by engine uws at start, with the reason',
    async () => {
      const options = { ...tlsFolder(), tlsClientCa: fixture('cert') }
      await expect(startTls('uws', options)).rejects.toThrow(
        /lets them in without one; use --engine node/,
      )
    },
  )
})
