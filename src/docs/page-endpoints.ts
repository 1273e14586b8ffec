import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import type { Api } from '../api/api.ts'
import { type Endpoint, getPage } from '../api/endpoint.ts'
import type { Access } from '../api/visit.ts'
import type { HeaderLine } from '../http/message.ts'
import { nosniff } from '../http/response-head.ts'
import { etagOf } from '../http/selected.ts'
import { examplePath } from './openapi/content.ts'

const file = new URL('../../dist/page/index.html', import.meta.url)

/**
 * The page is one file, read at the first request. Its policy lets it run its own script and ask
 * its server.
 *
 * @returns the endpoints of the page, `{prefix}/` and `{prefix}/docs`, unless others answer these,
 * and of the examples of APIs.
 */
export function pageEndpoints(
  prefix: string,
  others: readonly Endpoint[],
  apis: Iterable<Api> = [],
): Endpoint[] {
  // A handler mounted at `/` answers it, too; `/docs` stays, as the longer path.
  const taken = new Set(
    others.filter(answersGet).map(({ path }) => (path === `${prefix}/*` ? `${prefix}/` : path)),
  )
  let page: ReturnType<typeof makePage> | undefined
  const read = () => (page ??= makePage(readFileSync(file)))
  const pages = [`${prefix}/`, `${prefix}/docs`].filter((path) => !taken.has(path))
  return [
    ...pages.map((path) => pageEndpoint(path, read)),
    ...[...apis].flatMap((api) => exampleEndpoints(prefix, api)),
  ]
}

/** The page reads them by script: a browser that is led to one must not run it. */
function exampleEndpoints(prefix: string, { name, examples }: Api): Endpoint[] {
  return examples.map(({ headers, body }, i) => {
    const response = {
      headers: [...headers, nosniff, ['content-security-policy', 'sandbox'] as const],
      body,
    }
    return getPage(`${prefix}/${examplePath(name, i)}`, { kind: 'service' }, [], () => response)
  })
}

function answersGet({ methods }: Endpoint): boolean {
  return methods === 'any' || methods.includes('GET')
}

const shown: Access = {
  kind: 'public',
  because: 'what it shows it asks for with the credentials typed into it',
}

function pageEndpoint(path: string, read: () => ReturnType<typeof makePage>): Endpoint {
  return getPage(path, shown, ['accept-encoding'], (_, { ctx: { headers } }) => {
    const page = read()
    if (takesGzip(headers.get('accept-encoding'))) return page.compressed
    return page.plain
  })
}

function makePage(body: Buffer) {
  const headers: HeaderLine[] = [
    ['content-type', 'text/html; charset=utf-8'],
    ['content-security-policy', policyOf(body.toString())],
    ['x-content-type-options', 'nosniff'],
    ['x-frame-options', 'DENY'],
    ['referrer-policy', 'no-referrer'],
    ['cross-origin-opener-policy', 'same-origin'],
    ['cache-control', 'no-cache'],
    ['vary', 'accept-encoding'],
  ]
  const packed = gzipSync(body, { level: 9 })
  return {
    plain: { headers, body, revision: { etag: etagOf(body) } },
    compressed: {
      headers: [...headers, ['content-encoding', 'gzip'] as const],
      body: packed,
      revision: { etag: etagOf(packed) },
    },
  }
}

/**
 * @returns the policy for a document with one script and one style.
 * @see Content Security Policy Level 3.
 */
function policyOf(html: string): string {
  const hashOf = (tag: string) => {
    const [, text = ''] = new RegExp(`<${tag}[^>]*>([\\s\\S]*?)</${tag}>`).exec(html) ?? []
    return `'sha256-${createHash('sha256').update(text).digest('base64')}'`
  }
  return [
    "default-src 'none'",
    `script-src ${hashOf('script')}`,
    `style-src ${hashOf('style')}`,
    "connect-src 'self'",
    'img-src blob: data:',
    'media-src blob:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}

/**
 * Whether gzip is accepted.
 *
 * @see RFC 9110 section 12.5.3.
 */
function takesGzip(header: string | undefined): boolean {
  return /(^|,)\s*(gzip|\*)\s*(;\s*q=(?!0(\.0*)?\s*(,|$))[^,]*)?(,|$)/i.test(header ?? '')
}
