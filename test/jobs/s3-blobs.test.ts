import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { AwsClient } from 'aws4fetch'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { BlobStore } from '../../src/jobs/blob-store.ts'
import { s3Blobs } from '../../src/jobs/s3-blobs.ts'
import { joined } from '../../src/jobs/stored-body.ts'

/** moto, from PyPI, is a server of S3 and IAM that checks signatures. Without it these tests are skipped by name. */
const hasMoto = spawnSync('moto_server', ['--help']).status === 0

const servers: ChildProcess[] = []

/** Starts a server. After `free` actions it asks who calls, and checks the signature. */
async function moto(free = Number.POSITIVE_INFINITY): Promise<string> {
  const server = spawn('moto_server', ['-H', '127.0.0.1', '-p', '0'], {
    env: { ...process.env, INITIAL_NO_AUTH_ACTION_COUNT: String(free), PYTHONUNBUFFERED: '1' },
  })
  servers.push(server)
  let log = ''
  server.stdout?.on('data', (text) => (log += text))
  server.stderr?.on('data', (text) => (log += text))
  while (!/http:\/\/127\.0\.0\.1:\d+/.test(log)) await sleep(50)
  return /http:\/\/127\.0\.0\.1:\d+/.exec(log)?.[0] ?? ''
}

const root = new AwsClient({
  accessKeyId: 'root',
  secretAccessKey: 'root',
  region: 'us-east-1',
  retries: 0,
})
const makeBucket = (url: string) => root.fetch(url, { method: 'PUT', aws: { service: 's3' } })

describe.skipIf(!hasMoto)('blobs in a bucket', () => {
  let endpoint: string
  let env: NodeJS.ProcessEnv
  let blobs: BlobStore

  beforeAll(async () => {
    endpoint = await moto(4)
    const iam = async (action: string, more: Record<string, string> = {}) => {
      const body = String(
        new URLSearchParams({ Action: action, Version: '2010-05-08', UserName: 'jobs', ...more }),
      )
      const headers = { 'content-type': 'application/x-www-form-urlencoded' }
      const response = await root.fetch(endpoint, {
        method: 'POST',
        headers,
        body,
        aws: { service: 'iam' },
      })
      return response.text()
    }
    const anything = {
      Version: '2012-10-17',
      Statement: [{ Effect: 'Allow', Action: 's3:*', Resource: '*' }],
    }
    await iam('CreateUser')
    await iam('PutUserPolicy', { PolicyName: 'all', PolicyDocument: JSON.stringify(anything) })
    const keys = await iam('CreateAccessKey')
    env = {
      AWS_ACCESS_KEY_ID: /<AccessKeyId>(.+?)</.exec(keys)?.[1],
      AWS_SECRET_ACCESS_KEY: /<SecretAccessKey>(.+?)</.exec(keys)?.[1],
    }
    await makeBucket(`${endpoint}/bodies`)
    blobs = s3Blobs(`s3://bodies/jobs?endpoint=${endpoint}`, env)
  }, 60_000)

  afterAll(async () => {
    const ended = servers.map((server) => new Promise((resolve) => server.once('exit', resolve)))
    for (const server of servers) server.kill()
    await Promise.all(ended)
  })

  it('are read as they were written', async () => {
    const bytes = Uint8Array.from({ length: 3_000_000 }, (_, i) => (i * 31) % 251)
    await blobs.put('abc-request', bytes)
    const read = await joined(blobs.read('abc-request'), await blobs.size('abc-request'))
    expect(Buffer.compare(read, bytes)).toBe(0)
  })

  it('are gone when they are deleted, which may happen twice', async () => {
    await blobs.put('gone', Buffer.from('x'))
    await blobs.delete('gone')
    await blobs.delete('gone')
    await expect(blobs.size('gone')).rejects.toMatchObject({ code: 'not_found' })
  })

  it('are listed by their age, page by page, those of their folder alone', async () => {
    // moto 5.2 finds each signature wrong where a query has a slash, that of AWS's own client, too: one that is open.
    const open = await moto()
    await makeBucket(`${open}/bodies`)
    const listed = s3Blobs(`s3://bodies/listed/?endpoint=${open}`, env)
    const names = Array.from({ length: 1_001 }, (_, i) => `id-${i}`)
    for (let i = 0; i < names.length; i += 50)
      await Promise.all(names.slice(i, i + 50).map((name) => listed.put(name, Buffer.from('x'))))
    const outside = ['s3://bodies', 's3://bodies/listed/deeper', 's3://bodies/listed-too']
    for (const place of outside)
      await s3Blobs(`${place}?endpoint=${open}`, env).put('other', Buffer.from('x'))
    const older = async (time: number) => {
      const found: string[] = []
      for await (const name of listed.olderThan(time)) found.push(name)
      return found
    }
    expect((await older(Date.now() + 60_000)).sort()).toEqual(names.sort())
    expect(await older(Date.now() - 60_000)).toEqual([])
  }, 120_000)

  it('are refused to those with another key', async () => {
    const other = s3Blobs(`s3://bodies?endpoint=${endpoint}`, {
      ...env,
      AWS_SECRET_ACCESS_KEY: 'wrong',
    })
    await expect(other.put('x', Buffer.from('x'))).rejects.toThrow(
      /answered 403 SignatureDoesNotMatch/,
    )
  })

  it('say which bucket is missing', async () => {
    const other = s3Blobs(`s3://elsewhere?endpoint=${endpoint}`, env)
    await expect(joined(other.read('x'), 0)).rejects.toThrow(
      /elsewhere: the bucket answered 404 NoSuchBucket/,
    )
  })
})

describe('the place of blobs in a bucket', () => {
  const keys = { AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b' }

  it('is 503 if nothing answers there', async () => {
    const blobs = s3Blobs('s3://bodies', { ...keys, AWS_ENDPOINT_URL: 'http://127.0.0.1:1' })
    await expect(blobs.size('x')).rejects.toMatchObject({ status: 503 })
  })

  it.each([
    ['s3://', keys, 'expected s3://BUCKET/FOLDER'],
    ['s3://bodies/a b', keys, 'expected s3://BUCKET/FOLDER'],
    ['s3://bodies?endpoint=nowhere', keys, 'the endpoint of blobs'],
    [
      's3://bodies',
      { AWS_ROLE_ARN: 'arn:aws:iam::1:role/r', AWS_WEB_IDENTITY_TOKEN_FILE: '/token' },
      'AWS_SECRET_ACCESS_KEY (roles of pods and machines are not read) for the environment of bodies',
    ],
  ])('is checked: %s with %j', (place, env, message) => {
    expect(() => s3Blobs(place, env)).toThrow(message)
  })
})
