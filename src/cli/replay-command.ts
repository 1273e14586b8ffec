/** `serving replay`: sends recorded calls again, and tells which answers changed. @module */
import { writeFileSync } from 'node:fs'
import { bodyOf } from '../capture/captured-body.ts'
import { filesOf } from '../capture/place.ts'
import { type CapturedCall, readCalls, rowText } from '../capture/read-rows.ts'
import { InvalidArgument } from '../core/errors.ts'
import type { Tolerance } from '../values/difference.ts'
import { openFolders } from './capture-command.ts'
import { replay, timeOf } from './replay/replay.ts'
import { reportOf, reportText, worstFirst } from './replay/report.ts'
import { replayPage } from './replay/report-page.ts'
import { openTarget } from './replay/target.ts'

/** Flags of `serving replay`. */
export interface ReplayFlags extends Tolerance {
  readonly against: string
  /** Share of the calls. */
  readonly sample: number
  readonly speed?: number
  readonly request?: string
  readonly header?: Readonly<Record<string, string>>
  readonly connections: number
  /** **Units**: seconds. */
  readonly timeout: number
  /** Share of the calls that may change. */
  readonly allow: number
  readonly report?: string
  readonly save?: string
  readonly json?: boolean
}

/**
 * @returns the exit code: 1 if more has changed than may, or nothing could be compared.
 * @throws InvalidArgument for wrong flags, or a place without calls.
 */
export async function replayCommand(
  place: string,
  flags: ReplayFlags,
  print: (text: string) => void,
): Promise<number> {
  const { against, connections, header: headers = {}, allow } = flags
  const timeoutMs = flags.timeout * 1000
  const apis = await callsOf(place, flags)
  const target = await openTarget(against, { headers, connections, timeoutMs })
  try {
    const results = await replay(apis, target, { tolerance: flags, ...flags })
    const report = reportOf({ place, against, allow }, results)
    print(flags.json === true ? `${JSON.stringify(report, undefined, 2)}\n` : reportText(report))
    if (flags.report !== undefined) writeFileSync(flags.report, replayPage(report))
    const [worst] = results.flatMap(({ changes }) => changes).sort(worstFirst)
    if (flags.save !== undefined) await saveCase(flags.save, worst?.call ?? apis[0][0])
    return report.isAllowed ? 0 : 1
  } finally {
    await target.close()
  }
}

/** @returns the calls of each API, by time. */
async function callsOf(place: string, { sample, request }: ReplayFlags): Promise<CapturedCall[][]> {
  const apis: CapturedCall[][] = []
  for (const { store } of await openFolders(place)) {
    const calls: CapturedCall[] = []
    for (const file of await filesOf(store)) {
      for await (const call of readCalls(store, file)) {
        const isChosen =
          request === undefined ? Math.random() < sample : call.row.request_id === request
        if (isChosen) calls.push(call)
      }
    }
    if (calls.length > 0) apis.push(calls.sort((a, b) => timeOf(a) - timeOf(b)))
  }
  if (apis.length === 0) throw new InvalidArgument(`there are no such calls in ${place}`)
  return apis
}

/** Writes a request as `svc.inject` takes it, and the row of its call. */
async function saveCase(name: string, call: CapturedCall): Promise<void> {
  const request = await bodyOf(call)
  if (typeof request === 'string') throw new InvalidArgument(`the call cannot be saved: ${request}`)
  const { body = new Uint8Array(0), ...head } = request
  const content = { ...head, base64: Buffer.from(body).toString('base64') }
  const recorded = JSON.parse(rowText(call.row))
  const text = JSON.stringify({ request: content, recorded }, undefined, 2)
  writeFileSync(/\.json$/.test(name) ? name : `${name}.json`, `${text}\n`)
}
