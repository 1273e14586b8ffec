import type { ApiInfo } from '../../client/description.ts'
import { infoOf, Job } from '../../client/job.ts'
import { textView } from './answer.ts'
import { button, failure, h } from './dom.ts'
import { showResponse } from './exchange.ts'
import type { ErrorLocation } from './field.ts'

const placeMs = 1000

/** Where a job was submitted, and with which credentials. */
export interface Submission {
  readonly api: ApiInfo
  readonly base: string
  readonly headers: Record<string, string>
  /** Ends the view, not the job. */
  readonly signal: AbortSignal
  readonly started: number
}

/** Shows a job to its end, and then its answer; returns where in the input its errors are. */
export async function showJob(
  box: HTMLElement,
  id: string,
  to: Submission,
): Promise<ErrorLocation[]> {
  const { api, base, headers, signal, started } = to
  const job = new Job(id, base, { headers }, infoOf)
  let status = ''
  const state = h('span.status')
  const place = h('span')
  const bar = h('progress', { max: 1, hidden: true, 'aria-label': 'progress' })
  const told = h('span.dim')
  const answer = h('div')
  const showPlace = (count?: number) => {
    place.textContent = status === 'queued' && count !== undefined ? `${count} before it` : ''
  }
  const ask = () => job.status({ signal }).then(({ queuePosition }) => showPlace(queuePosition))
  const stop = button('Cancel', () => {
    job.cancel().catch((error) => answer.append(failure((error as Error).message)))
  })
  box.replaceChildren(
    h('p.facts', state, place, h('code', job.id)),
    h('div.tools', bar, told, stop),
    answer,
  )
  const timer = setInterval(() => status === 'queued' && ask().catch(() => {}), placeMs)
  try {
    let text: HTMLElement | undefined
    for await (const change of job.events({ signal })) {
      if (change.partial !== undefined) {
        text ??= answer.appendChild(textView(''))
        text.append(change.partial)
      } else if (change.status !== undefined) {
        status = change.status
        state.textContent = status
        state.classList.toggle('failed', ['failed', 'canceled', 'expired'].includes(status))
        // Another attempt begins again.
        text = undefined
        answer.replaceChildren()
        if (status === 'queued') await ask()
        else showPlace()
      } else {
        const share = shareOf(change.progress)
        bar.hidden = share === undefined
        bar.value = share ?? 0
        told.textContent = progressText(change.progress)
      }
    }
  } finally {
    clearInterval(timer)
  }
  stop.remove()
  if (status === 'canceled') return []
  return showResponse(
    answer,
    await fetch(`${base}/jobs/${encodeURIComponent(id)}/result`, { headers, signal }),
    api,
    started,
  )
}

/** @returns how much is done, from 0 to 1: of a number, `{ done }`, or `{ done, total }`. */
function shareOf(progress: unknown): number | undefined {
  const { done = progress, total = 1 } = Object(progress)
  const share = typeof done === 'number' ? done / total : Number.NaN
  if (share >= 0 && share <= 1) return share
  return undefined
}

/** @returns progress in words: `5 of 10`, `40 %`, a text. */
export function progressText(progress: unknown): string {
  const { done, total, ...more } = Object(progress)
  if (typeof done === 'number' && Object.keys(more).length === 0)
    return total === undefined ? `${done}` : `${done} of ${total}`
  const share = typeof progress === 'number' ? shareOf(progress) : undefined
  if (share !== undefined) return `${Math.round(share * 100)} %`
  if (typeof progress === 'string') return progress
  return JSON.stringify(progress)
}
