/** Splits of a service: `GET /splits/{name}`, their metrics, and all processes that go back together. @module */

import { getPage } from '../../api/endpoint.ts'
import type { Host } from '../../api/protocol.ts'
import type { RunnerLife } from '../../runner/runner.ts'

/** For the other processes to answer. **Units**: milliseconds. */
const withinMs = 1_000

/** Joins the Splits among Runners to a server. */
export function attachSplits(host: Host, runners: readonly RunnerLife[]): void {
  for (const runner of runners) {
    const { name, versions } = runner
    if (versions === undefined) continue
    const { guard } = versions
    const canaries = host.group(`guard ${name}`, async () => guard?.recent ?? [])
    if (guard !== undefined)
      guard.others = async () =>
        (await canaries.ask(null, { withinMs })).flatMap((each) => (each === 'late' ? [] : each))
    const group = host.group(`split ${name}`, async (wentBack: string | null) => {
      if (wentBack !== null) versions.goBack(wentBack)
      return versions.report()
    })
    const asked = { withinMs, remember: 'went back', untilReload: true }
    runner.watch(({ kind, message }) => {
      if (kind === 'went_back') void group.ask(message, asked)
    })
    host.metrics(versions.families)
    const path = `${host.prefix}/splits/${name}`
    host.http(
      getPage(path, { kind: 'service' }, [], async () => ({
        headers: [['content-type', 'application/json']],
        body: JSON.stringify([versions.report(), ...(await group.ask(null, { withinMs }))]),
      })),
    )
    const doc = `Calls of the versions of \`${name}\`, and where the answers of its shadow differ.`
    host.page({ group: 'Splits', path, methods: ['GET'], doc })
  }
}
