/** Counts the requests of a server. @module */
import { BucketCounts, durationBuckets, histogram } from './bucket-counts.ts'
import { counter, type MetricFamily } from './metric-family.ts'

const maxStatus = 600

class SeriesCounts {
  readonly labels: { readonly api: string; readonly transport: string }
  readonly durations = new BucketCounts(durationBuckets)
  readonly byStatus = new Float64Array(maxStatus)
  readonly byName = new Map<string, number>()
  bytesIn = 0
  bytesOut = 0

  constructor(api: string, transport: string) {
    this.labels = { api, transport }
  }
}

/** Counts in plain numbers; metrics are made of them when somebody asks. */
export class RequestCounts {
  readonly #transports = new Map<string, Map<string, SeriesCounts>>()
  readonly #refused = new Map<string, number>()

  add(api: string, transport: string, code: number | string, seconds: number, bytesIn: number, bytesOut: number): void {
    const series = this.#series(api, transport)
    if (typeof code === 'number') series.byStatus[code]++
    else series.byName.set(code, (series.byName.get(code) ?? 0) + 1)
    series.durations.add(seconds)
    series.bytesIn += bytesIn
    series.bytesOut += bytesOut
  }

  addRefused(reason: string): void {
    this.#refused.set(reason, (this.#refused.get(reason) ?? 0) + 1)
  }

  #series(api: string, transport: string): SeriesCounts {
    let series = this.#transports.get(transport)?.get(api)
    if (series !== undefined) return series
    series = new SeriesCounts(api, transport)
    const apis = this.#transports.get(transport) ?? new Map<string, SeriesCounts>()
    this.#transports.set(transport, apis.set(api, series))
    return series
  }

  families(): MetricFamily[] {
    const all = [...this.#transports.values()].flatMap((apis) => [...apis.values()])
    const requests = all.flatMap(({ labels, byStatus, byName }) =>
      [...byStatus.entries(), ...byName]
        .filter(([, value]) => value > 0)
        .map(([code, value]) => ({ labels: { ...labels, code }, value })),
    )
    const total = (field: 'bytesIn' | 'bytesOut') => all.map((each) => ({ labels: each.labels, value: each[field] }))
    const durations = all.map(({ labels, durations: counts }) => ({ labels, counts }))
    const refused = [...this.#refused].map(([reason, value]) => ({ labels: { reason }, value }))
    return [
      counter('serving_requests_total', 'Requests that are over, by status of HTTP, or of gRPC.', requests),
      histogram('serving_request_duration_seconds', 'From the headers to the last byte of the response.', durations),
      counter('serving_request_body_bytes_total', 'Bytes of request bodies, as they were sent.', total('bytesIn')),
      counter('serving_response_body_bytes_total', 'Bytes of response bodies.', total('bytesOut')),
      counter('serving_rejected_total', 'Requests that were refused, by reason.', refused),
    ]
  }
}
