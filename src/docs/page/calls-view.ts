import type { ServingError } from '../../client/serving-error.ts'
import type { CallRecord, RunnerCallRecord } from '../../http/call-record.ts'
import {
  type CallPart,
  jobLabel,
  jobName,
  jobText,
  msText,
  partKinds,
  partsOf,
  partsOfRun,
} from './call-parts.ts'
import type { Credentials } from './credentials.ts'
import { button, choice, facts, h, sizeText, statusBadge, svg, table } from './dom.ts'
import { eventsOf } from './exchange.ts'

const maxCalls = 200
/** How many calls of a batch are drawn. */
const maxMates = 30
/** Until it asks a server again that has gone. **Units**: milliseconds. */
const retryMs = 2000

/** @returns the last calls of the service at `base`, as they come. */
export function callsView(base: string, credentials: Credentials): HTMLElement {
  const left = new AbortController()
  const list = new CallList()
  const state = h('span.dim', { role: 'status' }, 'connecting')
  const receive = async () => {
    const headers = { accept: 'text/event-stream', ...credentials.headers() }
    const events = await eventsOf(`${base}/docs/calls`, { headers, signal: left.signal })
    state.textContent = 'live'
    for await (const { data } of events) list.add(JSON.parse(data))
  }
  const follow = async () => {
    while (!left.signal.aborted) {
      try {
        await receive()
      } catch (error) {
        const { status = 0, message } = error as ServingError
        if (status === 401) credentials.askAny()
        state.textContent = message
        if (status >= 400 && status < 500) return
      }
      state.textContent = 'The server has gone. Asking again…'
      await new Promise((resolve) => setTimeout(resolve, retryMs))
    }
  }
  void follow()
  return h(
    'article.calls',
    { onleave: () => left.abort() },
    h('h2', { tabindex: '-1' }, 'Calls'),
    h(
      'p.doc',
      'The last 200 calls of this service, and what each was doing when. Open one to see its batch.',
    ),
    h(
      'div.tools',
      choice('which calls', Object.keys(filters), (chosen) => list.show(chosen)),
      state,
    ),
    h('ul.legend', { 'aria-label': 'colours' }, ...partKinds.map(legend)),
    list.element,
  )
}

function legend(kind: string): HTMLElement {
  const swatch = svg('svg', { class: 'swatch', 'aria-hidden': 'true' }, bar(kind, 0, 1))
  return h('li', swatch, ` ${kind}`)
}

const filters: Readonly<Record<string, (call: CallRecord) => boolean>> = {
  All: () => true,
  Errors: ({ status }) => status >= 400,
  'Shared batches': (call) => sharedJobs(call).length > 0,
}

interface Row {
  readonly call: CallRecord
  readonly element: HTMLDetailsElement
  readonly item: HTMLElement
}

class CallList {
  readonly #list = h('ol.call-list')
  readonly #empty = h(
    'p.empty',
    'No calls yet. Send one from this page or by its code, and it appears here.',
  )
  readonly element = h('div', this.#empty, this.#list)
  /** By process and number, the newest last. */
  readonly #rows = new Map<string, Row>()
  #isShown = filters.All

  show(chosen: number): void {
    this.#isShown = Object.values(filters)[chosen]
    for (const { call, item } of this.#rows.values()) item.hidden = !this.#isShown(call)
  }

  add(calls: readonly CallRecord[]): void {
    for (const call of calls.toSorted((a, b) => a.at - b.at)) {
      const key = `${call.process}-${call.sequence}`
      if (this.#rows.has(key)) continue
      const element = this.#elementOf(call)
      const item = h('li', { hidden: !this.#isShown(call) }, element)
      this.#rows.set(key, { call, element, item })
      this.#list.prepend(item)
    }
    for (const [key, { item }] of [...this.#rows].slice(0, -maxCalls)) {
      this.#rows.delete(key)
      item.remove()
    }
    this.#empty.hidden = this.#rows.size > 0
  }

  #elementOf(call: CallRecord): HTMLDetailsElement {
    const { at, status, code, method, path, api, totalMs } = call
    const body = h('div.call-body')
    const shared = sharedJobs(call)
    const ontoggle = () => {
      body.replaceChildren(...(element.open ? this.#details(call) : []))
      // Those that share a batch with the call are marked together.
      for (const { call: other, element: row } of this.#rows.values())
        if (shared.some(({ id }) => jobsOf(other).some((job) => job.id === id)))
          row.classList.toggle('mate', element.open)
    }
    const batches = shared.map(
      ({ id, isBatch, calls }) => `${jobLabel(id, isBatch)}, ${calls} calls `,
    )
    const element: HTMLDetailsElement = h(
      'details.call',
      { ontoggle },
      h(
        'summary',
        h('time.dim', new Date(at).toTimeString().slice(0, 8)),
        statusBadge(status, code && ` ${code}`),
        h(
          'span.call-path',
          h('span', { class: `method ${method.toLowerCase()}` }, method),
          ' ',
          api ?? path,
        ),
        h('span.dim', ...batches),
        h('span.call-ms', msText(totalMs)),
        timeline(partsOf(call), 0, totalMs),
      ),
      body,
    )
    return element
  }

  #details(call: CallRecord): HTMLElement[] {
    const { id, process, path, protocol, bytesIn, bytesOut, runs, dropped } = call
    const rows = partsOf(call)
      .toSorted((a, b) => a.from - b.from)
      .map(({ name, from, to }) => [name, msText(from), msText(to - from)])
    if (dropped > 0) rows.push([`and ${dropped} more parts`])
    const [received, sent] = [sizeText(bytesIn), sizeText(bytesOut)]
    return [
      ...runs.map((run) => h('section', h('p', jobText(run)), ...this.#company(call, run))),
      table('parts of the call', ['part', 'from', 'took'], rows),
      facts({ path, protocol, received, sent, process, 'request id': id }),
    ]
  }

  /** Draws the calls of a batch over the time that they share. */
  #company(call: CallRecord, { job, waitedFor }: RunnerCallRecord): HTMLElement[] {
    if (job === undefined || job.calls < 2) return []
    const mates = this.#runsOf(job.id)
    const shown = mates.toSorted((a, b) => a.parts[0].from - b.parts[0].from).slice(0, maxMates)
    const lines = shown.map(({ row, parts }): [HTMLElement, CallPart[]] => [
      row.call === call ? h('span', 'this call') : linkTo(row),
      parts,
    ])
    // The job before it is told by any call that it had.
    for (const { parts } of this.#runsOf(waitedFor).slice(0, 1)) {
      const name = h('span.dim', `${jobName(String(waitedFor), job.isBatch)} before it`)
      lines.unshift([name, parts.filter(({ kind }) => kind === 'model')])
    }
    const times = lines.flatMap(([, parts]) => parts)
    const from = Math.min(...times.map((part) => part.from))
    const to = Math.max(...times.map((part) => part.to))
    const missing = [
      mates.length > shown.length && `The first ${shown.length} are shown.`,
      job.calls > mates.length &&
        `${job.calls - mates.length} of them are no longer in the list, or still run.`,
    ]
    return [
      h('div.mates', ...lines.flatMap(([name, parts]) => [name, timeline(parts, from, to)])),
      h('p.dim', missing.filter(Boolean).join(' ')),
    ]
  }

  /** @returns what calls did in a job. **Units**: milliseconds since the epoch. */
  #runsOf(id: string | undefined) {
    return [...this.#rows.values()].flatMap((row) => {
      const { at, runs, totalMs } = row.call
      const ofJob = runs.filter(({ job }) => job !== undefined && job.id === id)
      return ofJob.map((run) => {
        const parts = partsOfRun(run, totalMs)
        return {
          row,
          parts: parts.map((part) => ({ ...part, from: part.from + at, to: part.to + at })),
        }
      })
    })
  }
}

function linkTo({ call: { method, path, api, id }, element, item }: Row): HTMLElement {
  const link = button(`${method} ${api ?? path} ${id.slice(0, 8)}`, () => {
    item.hidden = false
    element.open = true
    element.querySelector('summary')?.focus()
  })
  link.classList.add('link')
  return link
}

function jobsOf({ runs }: CallRecord) {
  return runs.flatMap(({ job }) => job ?? [])
}

function sharedJobs(call: CallRecord) {
  const jobs = jobsOf(call).filter(({ calls }) => calls > 1)
  return [...new Map(jobs.map((job) => [job.id, job])).values()].slice(0, 3)
}

/** Draws parts as bars over the time from `from` to `to`. */
function timeline(parts: readonly CallPart[], from: number, to: number): SVGElement {
  const span = Math.max(to - from, 1e-3)
  const label = parts
    .filter((part) => part.to > part.from)
    .map((part) => `${part.name} ${msText(part.to - part.from)}`)
    .join(', ')
  return svg(
    'svg',
    { class: 'timeline', role: 'img', 'aria-label': label },
    ...parts.map((part) => bar(part.kind, (part.from - from) / span, (part.to - part.from) / span)),
  )
}

/** The shares of the time are of the width; what took no time is still seen. */
function bar(kind: string, start: number, width: number): SVGElement {
  const percent = (share: number) => `${(share * 100).toFixed(3)}%`
  return svg('rect', { x: percent(start), width: percent(Math.max(width, 0.002)), class: kind })
}
