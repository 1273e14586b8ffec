/** Splits of a service: `GET /splits/{name}`, their shares, and all processes that go back together. @module */

import { getPage } from '../../api/endpoint.ts'
import type { Host } from '../../api/protocol.ts'
import { checkThat } from '../../core/options.ts'
import type { RunnerLife } from '../../runner/runner.ts'

/** For the other processes to answer. **Units**: milliseconds. */
const withinMs = 1_000

/**
 * Joins the Splits among Runners to a server.
 *
 * @param shares - Those of their canaries, as `model=0.05,ranker=0`.
 * @throws InvalidArgument for a name that no Split with a canary has.
 */
export function attachSplits(host: Host, runners: readonly RunnerLife[], shares = ''): void {
  for (const pair of shares.split(',').filter(Boolean)) {
    const [name, share] = pair.split('=')
    const versions = runners.find((runner) => runner.name === name)?.versions
    const isSplit = versions?.runners.canary !== undefined
    checkThat(isSplit, 'the name of a Split with a canary', 'canary', name)
    Object.assign(versions.state, { canary: Number(share), wentBack: undefined })
  }
  for (const { name, versions } of runners) {
    if (versions === undefined) continue
    const { state } = versions
    const group = host.group(`split ${name}`, async (wentBack: string | null) => {
      if (wentBack !== null) Object.assign(state, { canary: 0, wentBack })
      return state
    })
    const forGood = { remember: 'went back', untilReload: true }
    versions.ask = (wentBack) => group.ask(wentBack, { withinMs, ...(wentBack && forGood) })
    const path = `${host.prefix}/splits/${name}`
    host.http(
      getPage(path, { kind: 'service' }, [], async () => ({
        headers: [['content-type', 'application/json']],
        // What the guard judges is long, and no finding.
        body: JSON.stringify([state, ...(await versions.ask(null))], (key, value) =>
          key === 'recent' ? undefined : value,
        ),
      })),
    )
    const doc = `Calls of the versions of \`${name}\`, and where the answers of its shadow differ.`
    host.page({ group: 'Splits', path, methods: ['GET'], doc })
  }
}
