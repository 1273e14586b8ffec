/** `serving replay`: sends recorded calls again, and tells which answers changed. @module */
import { writeFileSync } from 'node:fs'
import { type CapturedCall, rowText } from '../capture/read-rows.ts'
import { InvalidArgument } from '../core/errors.ts'
import { worstFirst } from '../values/difference.ts'
import { inOrder, recordedCalls, requestOf } from './recorded-calls.ts'
import { type ReplayFlags, replay } from './replay/replay.ts'
import { reportOf, reportText } from './replay/report.ts'
import { reportPage } from './report-page.ts'

/**
 * @returns the exit code: 1 if more has changed than may, or nothing could be compared.
 * @throws InvalidArgument for wrong flags, or a place without calls.
 */
export async function replayCommand(
  place: string,
  flags: ReplayFlags,
  print: (text: string) => void,
): Promise<number> {
  const { against, allow, save, speed, request } = flags
  const chosen = chosenOf(place, flags)
  const results = await replay(speed === undefined ? chosen : inOrder(chosen), flags)
  if (results.length === 0) throw new InvalidArgument(`there are no such calls in ${place}`)
  const report = reportOf({ place, against, allow }, results)
  print(flags.json ? `${JSON.stringify(report, undefined, 2)}\n` : reportText(report))
  if (flags.report !== undefined) writeFileSync(flags.report, reportPage(report))
  if (save !== undefined) {
    const [worst] = report.apis.flatMap((api) => api.worst).sort(worstFirst)
    const saved = chosenOf(place, { sample: 1, request: request ?? worst?.requestId })
    const { value } = await saved.next()
    if (value !== undefined) await saveCase(save, value)
  }
  return report.isAllowed ? 0 : 1
}

async function* chosenOf(
  place: string,
  { sample, request }: Pick<ReplayFlags, 'sample' | 'request'>,
) {
  for await (const call of recordedCalls(place)) {
    const isChosen =
      request === undefined ? Math.random() < sample : call.row.request_id === request
    if (isChosen) yield call
  }
}

/** Writes a request as `svc.inject` takes it, and the row of its call. */
async function saveCase(name: string, call: CapturedCall): Promise<void> {
  const { body = new Uint8Array(0), ...head } = await requestOf(call)
  const content = { ...head, base64: Buffer.from(body).toString('base64') }
  const recorded = JSON.parse(rowText(call.row))
  const text = JSON.stringify({ request: content, recorded }, undefined, 2)
  writeFileSync(/\.json$/.test(name) ? name : `${name}.json`, `${text}\n`)
}
