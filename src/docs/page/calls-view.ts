import { parseEvents, textPieces } from '../../client/lines.ts'
import { errorOf, type ServingError } from '../../client/serving-error.ts'
import type { CallRecord, RunnerCallRecord } from '../../http/call-record.ts'
import { type CallPart, jobName, jobText, msText, partKinds, partsOf } from './call-parts.ts'
import type { Credentials } from './credentials.ts'
import { button, choice, facts, h, sizeText, statusBadge, svg, table } from './dom.ts'

const maxCalls = 200
/** How many calls of a batch are drawn. */
const maxMates = 30
/** Until it asks a server again that has gone. **Units**: milliseconds. */
const retryMs = 2000

/** Where the calls come from. */
export interface CallsPlace {
  readonly base: string
  readonly credentials: Credentials
}

/** @returns the last calls of the service, as they come, and what to call when another view takes its place. */
export function callsView({ base, credentials }: CallsPlace) {
  const left = new AbortController()
  const list = new CallList()
  const state = h('span.dim', { role: 'status' }, 'connecting')
  const receive = async () => {
    const headers = { accept: 'text/event-stream', ...credentials.headers() }
    const response = await fetch(`${base}/docs/calls`, { headers, signal: left.signal })
    if (!response.ok || response.body === null) throw await errorOf(response)
    tell('live')
    for await (const { data } of parseEvents(textPieces(response.body)))
      list.add(JSON.parse(data) as readonly CallRecord[])
  }
  const follow = async () => {
    while (!left.signal.aborted) {
      try {
        await receive()
      } catch (error) {
        const { status = 0, message } = error as ServingError
        if (status === 401) credentials.askAny()
        if (status >= 400 && status < 500) return tell(message)
      }
      tell('The server has gone. Asking again…')
      await new Promise((resolve) => setTimeout(resolve, retryMs))
    }
  }
  const tell = (text: string) => {
    state.textContent = text
  }
  const pause = button('Pause', () => {
    pause.textContent = list.isPaused ? 'Pause' : 'Continue'
    list.isPaused = !list.isPaused
  })
  const names = ['All', 'Errors', 'Shared batches']
  const element = h(
    'article.calls',
    h('h2', { tabindex: '-1' }, 'Calls'),
    h(
      'div.doc',
      h(
        'p',
        'The last 200 calls of this service, and what each was doing when. Open one to see its batch.',
      ),
    ),
    h(
      'div.tools',
      choice('which calls', names, (chosen) => list.show(chosen)),
      pause,
      state,
    ),
    h('ul.legend', { 'aria-label': 'colours' }, ...partKinds.map(legend)),
    list.element,
  )
  void follow()
  return { element, leave: () => left.abort() }
}

function legend(kind: string): HTMLElement {
  return h(
    'li',
    svg('svg', { class: 'swatch', 'aria-hidden': 'true' }, bar(kind, 0, 1)),
    ` ${kind}`,
  )
}

/** The filters, in the order of their buttons. */
const filters: readonly ((call: CallRecord) => boolean)[] = [
  () => true,
  ({ status }) => status >= 400,
  ({ runs }) => runs.some(({ job }) => (job?.calls ?? 0) > 1),
]

interface Row {
  readonly call: CallRecord
  readonly element: HTMLDetailsElement
  readonly item: HTMLElement
}

class CallList {
  readonly element = h('div')
  #isPaused = false
  readonly #list = h('ol.call-list')
  readonly #empty = h(
    'p.empty',
    'No calls yet. Send one from this page or by its code, and it appears here.',
  )
  /** By process and number, the newest last. */
  readonly #rows = new Map<string, Row>()
  #held: CallRecord[] = []
  #filter = filters[0]

  constructor() {
    this.element.append(this.#empty, this.#list)
  }

  get isPaused(): boolean {
    return this.#isPaused
  }

  set isPaused(isPaused: boolean) {
    this.#isPaused = isPaused
    if (isPaused) return
    this.add(this.#held)
    this.#held = []
  }

  show(chosen: number): void {
    this.#filter = filters[chosen]
    for (const { call, item } of this.#rows.values()) item.hidden = !this.#filter(call)
  }

  add(calls: readonly CallRecord[]): void {
    if (this.#isPaused) {
      this.#held = [...this.#held, ...calls].slice(-maxCalls)
      return
    }
    for (const call of calls.toSorted((a, b) => a.at - b.at)) {
      const key = `${call.process}-${call.sequence}`
      if (this.#rows.has(key)) continue
      const element = this.#row(call)
      const item = h('li', { hidden: !this.#filter(call) }, element)
      this.#rows.set(key, { call, element, item })
      this.#list.prepend(item)
    }
    for (const [key, { item }] of this.#rows) {
      if (this.#rows.size <= maxCalls) break
      this.#rows.delete(key)
      item.remove()
    }
    this.#empty.hidden = this.#rows.size > 0
  }

  #row(call: CallRecord): HTMLDetailsElement {
    const { at, status, code, method, path, api, totalMs } = call
    const body = h('div.call-body')
    const shared = sharedJobs(call)
    const element: HTMLDetailsElement = h(
      'details.call',
      {
        onmouseenter: () => this.#mark(call, true),
        onmouseleave: () => this.#mark(call, element.open),
        onfocusin: () => this.#mark(call, true),
        onfocusout: () => this.#mark(call, element.open),
        ontoggle: () => {
          this.#mark(call, element.open)
          body.replaceChildren(...(element.open ? this.#details(call) : []))
        },
      },
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
        h(
          'span.dim',
          ...shared.map(({ id, isBatch, calls }) => `${jobLabel(id, isBatch)}, ${calls} calls `),
        ),
        h('span.call-ms', msText(totalMs)),
        timeline(partsOf(call), 0, totalMs),
      ),
      body,
    )
    return element
  }

  /** Those that share a batch with a call are marked together. */
  #mark(call: CallRecord, isMarked: boolean): void {
    for (const { call: other, element } of this.#rows.values())
      if (sharedJobs(call).some(({ id }) => jobIdsOf(other).includes(id)))
        element.classList.toggle('mate', isMarked)
  }

  #details(call: CallRecord): HTMLElement[] {
    const { id, process, path, protocol, bytesIn, bytesOut, runs, dropped } = call
    const parts = partsOf(call)
    const rows = parts
      .toSorted((a, b) => a.from - b.from)
      .map(({ name, from, to }) => [name, msText(from), msText(to - from)])
    const [received, sent] = [sizeText(bytesIn), sizeText(bytesOut)]
    return [
      ...runs.map((run) => this.#company(call, run)),
      table('parts of the call', ['part', 'from', 'took'], rows),
      ...(dropped > 0 ? [h('p.dim', `and ${dropped} more parts`)] : []),
      facts({ path, protocol, received, sent, process, 'request id': id }),
    ]
  }

  /** Draws the calls of a batch over the time that they share. */
  #company(call: CallRecord, run: RunnerCallRecord): HTMLElement {
    const text = h('p', jobText(run))
    const { job, waitedFor } = run
    if (job === undefined || job.calls < 2) return h('section', text)
    const runsOf = (id: string | undefined) =>
      [...this.#rows.values()].flatMap((row) =>
        row.call.runs
          .filter((each) => each.job !== undefined && each.job.id === id)
          .map((each) => ({
            row,
            queuedAt: row.call.at + each.queuedAt,
            parts: shifted(row.call, each),
          })),
      )
    const mates = runsOf(job.id)
    const before = runsOf(waitedFor)
      .slice(0, 1)
      .map(({ parts }) => parts.filter(({ kind }) => kind === 'model'))
    const times = [...mates.map(({ parts }) => parts), ...before].flat()
    const from = Math.min(...times.map((part) => part.from))
    const to = Math.max(...times.map((part) => part.to))
    const shown = mates.toSorted((a, b) => a.queuedAt - b.queuedAt).slice(0, maxMates)
    return h(
      'section',
      text,
      h(
        'div.mates',
        ...before.flatMap((parts) => [
          h('span.dim', `${jobName(String(waitedFor), job.isBatch)} before it`),
          timeline(parts, from, to),
        ]),
        ...shown.flatMap(({ row, parts }) => [
          this.#link(row, row.call === call),
          timeline(parts, from, to),
        ]),
      ),
      h('p.dim', missingText(job.calls, mates.length, shown.length)),
    )
  }

  #link({ call, element, item }: Row, isThis: boolean): HTMLElement {
    const { method, path, api, id } = call
    if (isThis) return h('span', 'this call')
    const open = button(`${method} ${api ?? path} ${id.slice(0, 8)}`, () => {
      item.hidden = false
      element.open = true
      element.querySelector('summary')?.focus()
    })
    open.classList.add('link')
    return open
  }
}

function missingText(calls: number, known: number, shown: number): string {
  return [
    known > shown && `The first ${shown} are shown.`,
    calls > known && `${calls - known} of them are no longer in the list, or still run.`,
  ]
    .filter(Boolean)
    .join(' ')
}

function jobIdsOf({ runs }: CallRecord): string[] {
  return runs.flatMap(({ job }) => job?.id ?? [])
}

function sharedJobs({ runs }: CallRecord) {
  const jobs = runs.flatMap(({ job }) => job ?? []).filter(({ calls }) => calls > 1)
  return [...new Map(jobs.map((job) => [job.id, job])).values()].slice(0, 3)
}

function jobLabel(id: string, isBatch: boolean): string {
  return jobName(id, isBatch).replace(/ of process.*/, '')
}

/** @returns the parts of a call of a Runner, in milliseconds since the epoch. */
function shifted(call: CallRecord, run: RunnerCallRecord): CallPart[] {
  const own = { ...call, stages: [], runs: [run] }
  return partsOf(own)
    .filter(({ kind }) => kind !== 'rest')
    .map((part) => ({ ...part, from: part.from + call.at, to: part.to + call.at }))
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
  const isThin = kind === 'function' || kind === 'rest'
  const place = isThin ? { y: '35%', height: '30%' } : { y: '0', height: '100%' }
  const size = { x: percent(start), width: percent(Math.max(width, kind === 'rest' ? 0 : 0.002)) }
  return svg('rect', { ...place, ...size, class: kind })
}
