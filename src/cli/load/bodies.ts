/** Bodies to send: files, or the examples of the OpenAPI document of the server. @module */
import { readFileSync } from 'node:fs'
import { InvalidArgument } from '../../core/errors.ts'
import { extensionType } from '../../core/file/extension-type.ts'

/** One body. */
export interface Body {
  readonly bytes: Buffer
  readonly contentType: string
}

/** @throws InvalidArgument for a file that cannot be read. */
export function bodyOfFile(path: string, contentType?: string): Body {
  try {
    return {
      bytes: readFileSync(path),
      contentType: contentType ?? extensionType(path) ?? 'application/octet-stream',
    }
  } catch (error) {
    throw new InvalidArgument(`expected a file that can be read for --body: ${String(error)}`)
  }
}

interface Operation {
  readonly requestBody?: {
    readonly content: Readonly<
      Record<string, { readonly example?: unknown; readonly examples?: Record<string, Example> }>
    >
  }
}

interface Example {
  readonly value?: unknown
}

interface OpenApiDocument {
  readonly paths?: Readonly<Record<string, { readonly post?: Operation }>>
}

/**
 * @returns the examples of the API at an address.
 * @throws InvalidArgument if it has no example.
 */
export async function examplesOf(url: URL): Promise<Body[]> {
  const { document, prefix } = await findDocument(url)
  const path = url.pathname.slice(prefix.length)
  const content = (document.paths?.[url.pathname] ?? document.paths?.[path])?.post?.requestBody
    ?.content
  const bodies = Object.entries(content ?? {}).flatMap(([contentType, media]) => {
    const values = [media.example, ...Object.values(media.examples ?? {}).map(({ value }) => value)]
    return values.flatMap((value) => bodyOf(contentType, value))
  })
  const [first] = bodies
  if (first !== undefined) return bodies.filter((body) => body.contentType === first.contentType)
  throw new InvalidArgument(
    `the OpenAPI document of ${url.origin} has no example for POST ${url.pathname}: give --body FILE`,
  )
}

function bodyOf(contentType: string, value: unknown): Body[] {
  if (value === undefined) return []
  const isText = typeof value === 'string' && !/[/+]json$/.test(contentType)
  if (!isText && !/[/+]json$/.test(contentType)) return []
  const text = isText ? value : JSON.stringify(value)
  return [{ bytes: Buffer.from(text), contentType }]
}

/** The document stands at the path in front of every API, which is the root unless `--base-url` says otherwise. */
async function findDocument(url: URL): Promise<{ document: OpenApiDocument; prefix: string }> {
  const segments = url.pathname.split('/').slice(1, -1)
  for (let depth = 0; depth <= segments.length; depth++) {
    const prefix = segments
      .slice(0, depth)
      .map((segment) => `/${segment}`)
      .join('')
    const response = await fetch(new URL(`${prefix}/openapi.json`, url)).catch((cause) => {
      throw new InvalidArgument(`${url.origin} does not answer: ${reasonOf(cause)}`, { cause })
    })
    if (response.ok) return { document: (await response.json()) as OpenApiDocument, prefix }
  }
  throw new InvalidArgument(
    `${url.origin} shows no OpenAPI document with examples: give --body FILE`,
  )
}

function reasonOf(error: unknown): string {
  const { cause, message } = error as Error
  return cause instanceof Error ? cause.message : message
}
