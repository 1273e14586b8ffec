import { createServer } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { readText } from '../../src/cli/config/option-types.ts'
import { whole } from '../../src/core/option.ts'
import { basePath, byteCount } from '../../src/engine/option-kinds.ts'
import { takePort } from '../../src/server/workers/free-port.ts'
import { sharing } from '../../src/server/workers/port-sharing.ts'
import { originOf } from '../../src/server/workers/ready-lines.ts'

describe('a port shared among workers', () => {
  it('is left to the engines on Linux', () => {
    expect(sharing(undefined, 4, 'linux')).toEqual({ engine: undefined, workers: 4 })
    expect(sharing('uws', 4, 'linux')).toEqual({ engine: 'uws', workers: 4 })
  })

  it('takes the node engine elsewhere, or one worker where uws was asked for', () => {
    expect(sharing(undefined, 4, 'darwin')).toMatchObject({
      engine: 'node',
      workers: 4,
      warning: expect.stringContaining('darwin'),
    })
    expect(sharing('uws', 4, 'win32')).toMatchObject({
      engine: 'uws',
      workers: 1,
      warning: expect.stringContaining('1 worker'),
    })
    expect(sharing('node', 4, 'darwin')).toEqual({ engine: 'node', workers: 4 })
    expect(sharing(undefined, 1, 'darwin')).toEqual({ engine: undefined, workers: 1 })
  })
})

describe('claiming a port', () => {
  it('finds a free one for 0, and leaves it free', async () => {
    const port = await takePort(0, undefined)
    expect(port).toBeGreaterThan(0)
    expect(await takePort(port, undefined)).toBe(port)
  })

  it('refuses one that is taken', async () => {
    const server = createServer()
    onTestFinished(() => void server.close())
    await new Promise<void>((resolve) => server.listen(0, () => resolve()))
    const { port } = server.address() as { port: number }
    await expect(takePort(port, undefined)).rejects.toThrow(`port ${port} is in use`)
    await expect(takePort(port, '127.0.0.1')).rejects.toThrow(`port ${port} of 127.0.0.1 is in use`)
  })
})

describe('settings', () => {
  it('are told as an address to open', () => {
    expect(originOf(undefined, 80)).toBe('http://localhost:80')
    expect(originOf('0.0.0.0', 80)).toBe('http://localhost:80')
    expect(originOf('::1', 80)).toBe('http://[::1]:80')
    expect(originOf('10.0.0.7', 80)).toBe('http://10.0.0.7:80')
  })

  it('read sizes in bytes and in binary units', () => {
    expect(
      ['0', '4096', '512KiB', '64MiB', '1GiB'].map((size) => readText(byteCount, size)),
    ).toEqual([0, 4096, 524_288, 67_108_864, 1_073_741_824])
    for (const wrong of ['', '-1', '1.5', '64MB', '64 MiB', 'MiB', '9007199254740993'])
      expect(() => readText(byteCount, wrong)).toThrow('Expected')
  })

  it('read base paths with and without slashes', () => {
    expect(['', '/', 'v1', '/v1/', '//a/b'].map((path) => readText(basePath, path))).toEqual([
      '/',
      '/',
      '/v1',
      '/v1',
      '/a/b',
    ])
    for (const wrong of ['/a//b', '/a b', '/../x', 'http://x'])
      expect(() => readText(basePath, wrong)).toThrow('Expected')
  })

  it('read whole numbers within their range', () => {
    expect(readText(whole(0, 10), '10')).toBe(10)
    for (const wrong of ['11', '-1', '1e1', '0x1', ' 1', '1.0', ''])
      expect(() => readText(whole(0, 10), wrong)).toThrow('from 0 to 10')
  })
})
