/** GET APIs as resources, which agents read by a URI. @module */

import type { Api } from '../../api/api.ts'
import { paramNames } from '../../api/path-params.ts'
import { Query } from '../../api/query.ts'
import type { Visit } from '../../api/visit.ts'
import { BadInput, checkInput, expected, NotFound } from '../../core/errors.ts'
import { checkThat } from '../../core/options.ts'
import { jsonSchemaOf } from '../../descriptors/standard-json-schema.ts'
import type { Context } from '../../http/context.ts'
import { HttpRequest, type HttpResponse } from '../../http/message.ts'
import { callIn, contextOf } from './calls.ts'
import { namesOf, readAnswer } from './tools.ts'

/** **Units**: characters. */
const maxUriLength = 8192

/** An API, and where it is read. */
interface Place {
  readonly api: Api
  readonly pattern: RegExp
  /** False if it needs parameters. */
  readonly uri: string | false
  /** Of RFC 6570, with the parameters of its route and its query; false without any. */
  readonly uriTemplate: string | false
}

/** The resources of one service. */
export class Resources {
  readonly #places: readonly Place[]
  readonly #prefix: string

  /** @throws InvalidArgument for a URI without the parameters of its route. */
  constructor(service: string, apis: Iterable<Api>, prefix: string) {
    this.#places = [...apis]
      .filter(({ method, isGenerator, mcp }) => method === 'GET' && !isGenerator && mcp)
      .map((api) => placeOf(api, service))
    this.#prefix = prefix
  }

  /** The APIs that are read. */
  get apis(): readonly Api[] {
    return this.#places.map(({ api }) => api)
  }

  /** @returns what lists tell of those that `visible` has: the resources, or the templates. */
  list(visible: readonly Api[], place: 'uri' | 'uriTemplate'): object[] {
    const shown = this.#places.filter((each) => visible.includes(each.api) && each[place])
    return shown.map(({ api, [place]: where }) => {
      const [format] = api.output.describe().output
      return { [place]: where, ...namesOf(api), mimeType: format?.mimeType }
    })
  }

  /** @throws NotFound, or why the caller is refused; BadInput; those of the API. */
  async read(uri: string, visit: Visit): Promise<object> {
    const isShort = uri.length <= maxUriLength
    checkInput(isShort, `at most ${maxUriLength} characters`, 'uri', uri.length)
    const [path, query] = uri.split(/\?(.*)/s)
    const place = this.#places.find(({ pattern }) => pattern.test(path))
    if (place === undefined)
      throw visit.denial ?? new NotFound(expected('the URI of a resource', 'uri', uri.slice(0, 80)))
    const { api, pattern } = place
    const params = decoded(pattern.exec(path)?.groups ?? {})
    const route = api.route.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(params[name]))
    const line = { method: 'GET', path: `${this.#prefix}/${route}`, params }
    const call = contextOf(api, visit.ctx, line, query)
    const request = new HttpRequest(call.headers, new Uint8Array(0))
    return callIn(
      call,
      api,
      visit,
      () => api.input.fromHttpRequest(request, call),
      async (result) =>
        contentsOf(uri, await api.output.toHttpResponse(result as never, call), call),
    )
  }
}

/** @returns an answer in the form in which clients read a URI. */
export async function contentsOf(uri: string, answer: HttpResponse, ctx: Context): Promise<object> {
  const { mimeType, text, bytes } = await readAnswer(answer, ctx)
  const body = text === undefined ? { blob: bytes.toString('base64') } : { text }
  return { contents: [{ uri, mimeType, ...body }] }
}

function placeOf(api: Api, service: string): Place {
  const { name, route, input, mcp } = api
  const uri = mcp?.uri ?? `serving://${service}/${route}`
  const names = paramNames(route)
  const parts = [...uri.matchAll(/\{(\w+)\}/g)].map(([, part]) => part)
  const isWhole = `${parts.sort()}` === `${names.sort()}`
  checkThat(isWhole, `a URI with the parameters of ${route}`, `uri of mcp of ${name}`, uri)
  const source = uri
    .replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
    .replaceAll(/\\\{(\w+)\\\}/g, '(?<$1>[^/?#]+)')
  const schema = input instanceof Query && input.schema && jsonSchemaOf(input.schema, 'input')
  const { properties = {}, required = [] } = Object(schema)
  const isNeeded = names.length > 0 || required.length > 0
  const keys = Object.keys(properties).join(',')
  const template = uri + (keys && `{?${keys}}`)
  return {
    api,
    pattern: new RegExp(`^${source}$`),
    uri: !isNeeded && uri,
    uriTemplate: template.includes('{') && template,
  }
}

/** @throws BadInput. */
function decoded(params: Readonly<Record<string, string>>): Record<string, string> {
  try {
    return Object.fromEntries(
      Object.entries(params).map(([name, value]) => [name, decodeURIComponent(value)]),
    )
  } catch {
    throw new BadInput('expected percent-encoded UTF-8 for the parameters of uri')
  }
}
