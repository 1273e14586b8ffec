import { createHash } from 'node:crypto'
import type { AwsClient } from 'aws4fetch'
import { InternalError, InvalidArgument, NotFound, Overloaded } from '../core/errors.ts'
import { loadOptional } from '../core/modules/optional.ts'
import { checkThat } from '../core/options.ts'
import type { BlobStore } from './blob-store.ts'

const timeoutMs = 60_000
const retries = 3

/** What signs requests. Keys of roles end, and others follow. */
interface AwsKeys {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string | undefined
}

/**
 * All but the bucket may be missing. AWS's own variables count, too. Keys that these do not have come from the usual
 * places: roles of pods, tasks and machines, web identities, profiles.
 *
 * @returns the store of `s3://BUCKET/FOLDER?endpoint=URL&region=REGION`.
 * @throws InvalidArgument, also if there are no keys; MissingDependencyException.
 */
export async function s3Blobs(
  place: string,
  env: NodeJS.ProcessEnv = process.env,
): Promise<BlobStore> {
  const match = /^s3:\/\/([a-z0-9][a-z0-9.-]+)(\/[A-Za-z0-9._/-]*)?(\?.*)?$/.exec(place)
  checkThat(
    match !== null,
    's3://BUCKET/FOLDER?endpoint=URL&region=REGION',
    'the place of blobs',
    place,
  )
  const [, bucket, folder = '', query = ''] = match
  const given = new URLSearchParams(query)
  const region = given.get('region') ?? env.AWS_REGION ?? 'us-east-1'
  const endpoint =
    given.get('endpoint') ?? env.AWS_ENDPOINT_URL ?? `https://s3.${region}.amazonaws.com`
  checkThat(URL.canParse(endpoint), 'a URL', 'the endpoint of blobs', endpoint)
  const { AwsClient } = loadOptional<typeof import('aws4fetch')>(
    'aws4fetch',
    '^1.0.20',
    'blobs in a bucket',
  )
  const keys = await keysOf(env, bucket)
  const client = new AwsClient({ ...(await keys()), region, service: 's3', retries })
  const prefix = folder.replace(/^\/+|\/+$/g, '')
  return blobsIn(
    client,
    keys,
    new URL(`${endpoint.replace(/\/+$/, '')}/${bucket}`).href,
    prefix && `${prefix}/`,
  )
}

/** @returns what returns the keys that count now. */
async function keysOf(env: NodeJS.ProcessEnv, bucket: string): Promise<() => Promise<AwsKeys>> {
  const {
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    AWS_SESSION_TOKEN: sessionToken,
  } = env
  if (accessKeyId !== undefined && secretAccessKey !== undefined)
    return async () => ({ accessKeyId, secretAccessKey, sessionToken })
  const { defaultProvider } = loadOptional<typeof import('@aws-sdk/credential-provider-node')>(
    '@aws-sdk/credential-provider-node',
    '^3.972.0',
    `a bucket without AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY`,
  )
  // It keeps keys, and asks again shortly before they end.
  const provider = defaultProvider()
  try {
    await provider()
  } catch (cause) {
    throw new InvalidArgument(
      `expected keys for the bucket ${bucket}: ${(cause as Error).message}`,
      { cause },
    )
  }
  return provider
}

function blobsIn(
  client: AwsClient,
  keys: () => Promise<AwsKeys>,
  bucket: string,
  prefix: string,
): BlobStore {
  /** @returns an answer of 2xx, or of 404 to GET and HEAD. */
  async function ask(method: string, path: string, init: RequestInit = {}): Promise<Response> {
    // The time is for the head: a body is read as fast as the client of the job reads.
    const late = new AbortController()
    const timer = setTimeout(() => late.abort(), timeoutMs)
    const { signal } = late
    const asked = async () =>
      client.fetch(bucket + path, { ...init, method, signal, aws: await keys() })
    const response = await asked()
      .catch((cause) => {
        throw new Overloaded('the bucket of blobs cannot be reached', { cause })
      })
      .finally(() => clearTimeout(timer))
    const text = response.ok ? '' : await response.clone().text()
    // The answer to HEAD has no body with a code.
    const isMissing =
      response.status === 404 && (method === 'HEAD' || /<Code>NoSuchKey</.test(text))
    if (response.ok || isMissing) return response
    const code = textOf(text, 'Code') ?? ''
    throw new InternalError(`${method} ${bucket}: the bucket answered ${response.status} ${code}`)
  }

  async function askFor(method: 'GET' | 'HEAD', name: string): Promise<Response> {
    const response = await ask(method, `/${prefix}${name}`)
    if (response.status === 404) throw new NotFound(`no blob ${name} in ${bucket}`)
    return response
  }

  return {
    async put(name, bytes) {
      // The server refuses bytes that were damaged on the way.
      const headers = { 'x-amz-content-sha256': createHash('sha256').update(bytes).digest('hex') }
      const body = bytes as Uint8Array<ArrayBuffer>
      await ask('PUT', `/${prefix}${name}`, { headers, body })
    },
    async size(name) {
      return Number((await askFor('HEAD', name)).headers.get('content-length'))
    },
    async *read(name) {
      const { body } = await askFor('GET', name)
      // undici's pieces are those of its socket: 64 KiB.
      for await (const piece of body ?? []) yield piece
    },
    async delete(name) {
      await ask('DELETE', `/${prefix}${name}`)
    },
    async *olderThan(time) {
      let token: string | undefined
      do {
        const query = new URLSearchParams({ 'list-type': '2', prefix, delimiter: '/' })
        if (token !== undefined) query.set('continuation-token', token)
        const text = await (await ask('GET', `?${query}`)).text()
        for (const [, entry] of text.matchAll(/<Contents>(.*?)<\/Contents>/gs)) {
          const name = textOf(entry, 'Key')?.slice(prefix.length)
          const isOld = Date.parse(textOf(entry, 'LastModified') ?? '') < time
          if (name !== undefined && isOld) yield name
        }
        token = textOf(text, 'NextContinuationToken')
      } while (token !== undefined)
    },
  }
}

/**
 * Our names of blobs have no characters that XML escapes.
 *
 * @returns the text of the first element of a name.
 */
function textOf(xml: string, name: string): string | undefined {
  return new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1]
}
