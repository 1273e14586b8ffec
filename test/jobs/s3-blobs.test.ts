import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { AwsClient } from 'aws4fetch'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { BlobStore } from '../../src/jobs/blob-store.ts'
import { s3Blobs } from '../../src/jobs/s3-blobs.ts'
import { joined } from '../../src/jobs/stored-body.ts'
import { folder } from './harness.ts'

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

afterAll(async () => {
  const ended = servers.map((server) => new Promise((resolve) => server.once('exit', resolve)))
  for (const server of servers) server.kill()
  await Promise.all(ended)
})

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
    blobs = await s3Blobs(`s3://bodies/jobs?endpoint=${endpoint}`, env)
  }, 60_000)

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
    const listed = await s3Blobs(`s3://bodies/listed/?endpoint=${open}`, env)
    const names = Array.from({ length: 1_001 }, (_, i) => `id-${i}`)
    for (let i = 0; i < names.length; i += 50)
      await Promise.all(names.slice(i, i + 50).map((name) => listed.put(name, Buffer.from('x'))))
    const outside = ['s3://bodies', 's3://bodies/listed/deeper', 's3://bodies/listed-too']
    for (const place of outside)
      await (await s3Blobs(`${place}?endpoint=${open}`, env)).put('other', Buffer.from('x'))
    const older = async (time: number) => {
      const found: string[] = []
      for await (const name of listed.olderThan(time)) found.push(name)
      return found
    }
    expect((await older(Date.now() + 60_000)).sort()).toEqual(names.sort())
    expect(await older(Date.now() - 60_000)).toEqual([])
  }, 120_000)

  it('are refused to those with another key', async () => {
    const other = await s3Blobs(`s3://bodies?endpoint=${endpoint}`, {
      ...env,
      AWS_SECRET_ACCESS_KEY: 'wrong',
    })
    await expect(other.put('x', Buffer.from('x'))).rejects.toThrow(
      /answered 403 SignatureDoesNotMatch/,
    )
  })

  it('say which bucket is missing', async () => {
    const other = await s3Blobs(`s3://elsewhere?endpoint=${endpoint}`, env)
    await expect(joined(other.read('x'), 0)).rejects.toThrow(
      /elsewhere: the bucket answered 404 NoSuchBucket/,
    )
  })
})

/** Lets AWS's own chain find nothing but what a test gives it. */
function stubChain(env: Readonly<Record<string, string>>): void {
  const nothing = { AWS_EC2_METADATA_DISABLED: 'true', HOME: '/nonexistent', AWS_PROFILE: 'none' }
  for (const [name, value] of Object.entries({ ...nothing, ...env })) vi.stubEnv(name, value)
  onTestFinished(() => void vi.unstubAllEnvs())
}

/** Serves keys as the agents of ECS, EKS and EC2 do. Each answer has other ones, which last so long. */
async function keyServer(keys: NodeJS.ProcessEnv, lastsMs: number) {
  const asked: string[] = []
  const server = createServer(({ url = '', method, headers }, response) => {
    asked.push(`${method} ${url}`)
    if (url === '/latest/api/token') return void response.end('token')
    if (url.endsWith('/security-credentials/')) return void response.end('role')
    expect(headers.authorization ?? headers['x-aws-ec2-metadata-token']).toBe('token')
    const Expiration = new Date(Date.now() + lastsMs).toISOString()
    const { AWS_ACCESS_KEY_ID: AccessKeyId, AWS_SECRET_ACCESS_KEY: SecretAccessKey } = keys
    const answer = { Code: 'Success', AccessKeyId, SecretAccessKey, Token: undefined, Expiration }
    response.end(JSON.stringify({ ...answer, Token: 'session' }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return { asked, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

const day = 86_400_000

describe.skipIf(!hasMoto)('keys of a bucket by roles', () => {
  const written = async (blobs: BlobStore) => {
    await blobs.put('kept', Buffer.from('by a role'))
    const read = await joined(blobs.read('kept'), await blobs.size('kept'))
    return Buffer.from(read).toString()
  }
  let endpoint: string
  let place: string
  beforeAll(async () => {
    endpoint = await moto()
    await makeBucket(`${endpoint}/bodies`)
    place = `s3://bodies?endpoint=${endpoint}`
  }, 60_000)
  const keys = { AWS_ACCESS_KEY_ID: 'AKIA', AWS_SECRET_ACCESS_KEY: 'secret' }

  it('come from the web identity of a pod (IRSA)', async () => {
    const token = join(folder(), 'token')
    writeFileSync(token, 'header.payload.signature')
    stubChain({
      AWS_ROLE_ARN: 'arn:aws:iam::123456789012:role/jobs',
      AWS_WEB_IDENTITY_TOKEN_FILE: token,
      AWS_ENDPOINT_URL_STS: endpoint,
      AWS_REGION: 'us-east-1',
    })
    expect(await written(await s3Blobs(place, {}))).toBe('by a role')
  })

  it('come from the agent of a pod or task, and are renewed before they end', async () => {
    // AWS's clients ask again for keys that last for less than five minutes.
    const agent = await keyServer(keys, 60_000)
    const token = join(folder(), 'token')
    writeFileSync(token, 'token')
    stubChain({
      AWS_CONTAINER_CREDENTIALS_FULL_URI: `${agent.url}/keys`,
      AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: token,
    })
    const blobs = await s3Blobs(place, {})
    const before = agent.asked.length
    expect(await written(blobs)).toBe('by a role')
    expect(agent.asked.length).toBeGreaterThan(before)
  })

  it('come from the role of a machine, and are asked for once', async () => {
    const agent = await keyServer(keys, day)
    stubChain({
      AWS_EC2_METADATA_DISABLED: 'false',
      AWS_EC2_METADATA_SERVICE_ENDPOINT: agent.url,
    })
    const blobs = await s3Blobs(place, {})
    const asked = agent.asked.length
    expect(await written(blobs)).toBe('by a role')
    expect(agent.asked.length).toBe(asked)
  })

  it('stop the start where there are none', async () => {
    stubChain({})
    await expect(s3Blobs('s3://bodies', {})).rejects.toThrow(
      /^expected keys for the bucket bodies: /,
    )
  }, 30_000)
})

describe('the place of blobs in a bucket', () => {
  const keys = { AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b' }

  it('is 503 if nothing answers there', async () => {
    const blobs = await s3Blobs('s3://bodies', { ...keys, AWS_ENDPOINT_URL: 'http://127.0.0.1:1' })
    await expect(blobs.size('x')).rejects.toMatchObject({ status: 503 })
  })

  it.each([
    ['s3://', keys, 'expected s3://BUCKET/FOLDER'],
    ['s3://bodies/a b', keys, 'expected s3://BUCKET/FOLDER'],
    ['s3://bodies?endpoint=nowhere', keys, 'the endpoint of blobs'],
  ])('is checked: %s with %j', async (place, env, message) => {
    await expect(s3Blobs(place, env)).rejects.toThrow(message)
  })
})
