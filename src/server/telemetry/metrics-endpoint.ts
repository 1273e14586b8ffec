/** `GET /metrics`, on the HTTP port or on one of its own. @module */

import { type Endpoint, getPage } from '../../api/endpoint.ts'
import { Overloaded } from '../../core/errors.ts'
import { preferredType } from '../../http/accept.ts'
import type { HttpResponse } from '../../http/message.ts'
import type { ListeningServer } from '../../http/node-http.ts'
import { problemResponse } from '../../http/problem.ts'
import type { CollectGroup } from '../../telemetry/metrics/exposition.ts'
import { metricsText, metricsTypes } from '../../telemetry/metrics/exposition.ts'

const path = '/metrics'
const essences = ['text/plain', 'application/openmetrics-text']

/** Answers a scrape: OpenMetrics where `accept` ranks it higher, else the text that all versions of Prometheus read. */
export type MetricsPage = (accept: string | undefined) => Promise<HttpResponse>

/** @returns a page of metrics; one that is being made is shared by those who ask meanwhile. */
export function metricsPage(collect: CollectGroup): MetricsPage {
  const pending = new Map<string, Promise<HttpResponse>>()
  const make = async (type: string): Promise<HttpResponse> => {
    return { headers: [['content-type', type]], body: await metricsText(await collect(), type) }
  }
  return (accept = '*/*') => {
    const type =
      preferredType(accept, essences) === essences[1] ? metricsTypes.openMetrics : metricsTypes.text
    const page = pending.get(type) ?? make(type).finally(() => pending.delete(type))
    pending.set(type, page)
    return page
  }
}

/** @returns the endpoint of metrics. */
export function metricsEndpoint(page: MetricsPage): Endpoint {
  const answer = getPage(path, { kind: 'service' }, ['accept'], (_, { ctx: { headers, id } }) =>
    page(headers.get('accept')).catch((cause) => unavailable(cause, id)),
  )
  const content = Object.fromEntries(
    essences.map((essence) => [essence, { schema: { type: 'string' } }]),
  )
  const responses = { 200: { description: 'As text, or as OpenMetrics.', content } }
  const summary = 'The metrics of all workers, for Prometheus.'
  return { ...answer, operation: { operationId: 'metrics', tags: ['metrics'], summary, responses } }
}

function unavailable(cause: unknown, id: string): HttpResponse {
  return problemResponse(
    new Overloaded('the metrics of the other workers did not come in time', { cause }),
    id,
  )
}

/**
 * Answers `GET /metrics` on a port of its own, on node:http.
 *
 * @throws SetupError when it cannot be listened on.
 */
export async function listenMetrics(
  page: MetricsPage,
  port: number,
  host?: string,
): Promise<ListeningServer> {
  const { http, listenOn } = await import('../../http/node-http.ts')
  const server = http.createServer({ requestTimeout: 10_000 }, async (req, res) => {
    if (req.method !== 'GET' || req.url?.split('?')[0] !== path) {
      res
        .writeHead(req.method === 'GET' ? 404 : 405, { 'content-type': 'text/plain' })
        .end(`GET ${path}\n`)
      return
    }
    const answer = await page(req.headers.accept).catch((cause) => unavailable(cause, ''))
    res.writeHead(answer.status ?? 200, answer.headers.flat()).end(answer.body)
  })
  return listenOn(server, { port, host })
}
