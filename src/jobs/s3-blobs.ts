import { createHash } from 'node:crypto'
import type { AwsClient } from 'aws4fetch'
import { InternalError, NotFound, Overloaded } from '../core/errors.ts'
import { loadOptional } from '../core/modules/optional.ts'
import { checkThat } from '../core/options.ts'
import type { BlobStore } from './blob-store.ts'

const timeoutMs = 60_000
const retries = 3

/**
 * All but the bucket may be missing. AWS's own variables count, too: keys come from them alone.
 *
 * @returns the store of `s3://BUCKET/FOLDER?endpoint=URL&region=REGION`.
 * @throws InvalidArgument, MissingDependencyException.
 */
export function s3Blobs(place: string, env: NodeJS.ProcessEnv = process.env): BlobStore {
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
  const {
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    AWS_SESSION_TOKEN: sessionToken,
  } = env
  const hasKeys = accessKeyId !== undefined && secretAccessKey !== undefined
  const keys =
    'AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (roles of pods and machines are not read)'
  checkThat(hasKeys, keys, `the environment of ${bucket}`, accessKeyId)
  const { AwsClient } = loadOptional<typeof import('aws4fetch')>(
    'aws4fetch',
    '^1.0.20',
    'blobs in a bucket',
  )
  const client = new AwsClient({
    accessKeyId,
    secretAccessKey,
    sessionToken,
    region,
    service: 's3',
    retries,
  })
  const prefix = folder.replace(/^\/+|\/+$/g, '')
  return new S3Blobs(
    client,
    new URL(`${endpoint.replace(/\/+$/, '')}/${bucket}`).href,
    prefix && `${prefix}/`,
  )
}

class S3Blobs implements BlobStore {
  readonly #client: AwsClient
  readonly #bucket: string
  readonly #prefix: string

  constructor(client: AwsClient, bucket: string, prefix: string) {
    this.#client = client
    this.#bucket = bucket
    this.#prefix = prefix
  }

  async put(name: string, bytes: Uint8Array): Promise<void> {
    // The server refuses bytes that were damaged on the way.
    const headers = { 'x-amz-content-sha256': createHash('sha256').update(bytes).digest('hex') }
    await this.#ask('PUT', `/${this.#prefix}${name}`, {
      headers,
      body: bytes as Uint8Array<ArrayBuffer>,
    })
  }

  async size(name: string): Promise<number> {
    const { headers } = await this.#askFor('HEAD', name)
    return Number(headers.get('content-length'))
  }

  async *read(name: string): AsyncIterable<Uint8Array> {
    const { body } = await this.#askFor('GET', name)
    // undici's pieces are those of its socket: 64 KiB.
    for await (const piece of body ?? []) yield piece
  }

  async #askFor(method: 'GET' | 'HEAD', name: string): Promise<Response> {
    const response = await this.#ask(method, `/${this.#prefix}${name}`)
    if (response.status === 404) throw new NotFound(`no blob ${name} in ${this.#bucket}`)
    return response
  }

  async delete(name: string): Promise<void> {
    await this.#ask('DELETE', `/${this.#prefix}${name}`)
  }

  async *olderThan(time: number): AsyncIterable<string> {
    let token: string | undefined
    do {
      const query = new URLSearchParams({ 'list-type': '2', prefix: this.#prefix, delimiter: '/' })
      if (token !== undefined) query.set('continuation-token', token)
      const text = await (await this.#ask('GET', `?${query}`)).text()
      for (const [, entry] of text.matchAll(/<Contents>(.*?)<\/Contents>/gs)) {
        const name = textOf(entry, 'Key')?.slice(this.#prefix.length)
        if (name !== undefined && Date.parse(textOf(entry, 'LastModified') ?? '') < time) yield name
      }
      token = textOf(text, 'NextContinuationToken')
    } while (token !== undefined)
  }

  /** @returns an answer of 2xx, or of 404 to GET and HEAD. */
  async #ask(method: string, path: string, init: RequestInit = {}): Promise<Response> {
    // The time is for the head: a body is read as fast as the client of the job reads.
    const late = new AbortController()
    const timer = setTimeout(() => late.abort(), timeoutMs)
    const asked = this.#client.fetch(this.#bucket + path, { ...init, method, signal: late.signal })
    const response = await asked
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
    throw new InternalError(
      `${method} ${this.#bucket}: the bucket answered ${response.status} ${code}`,
    )
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
