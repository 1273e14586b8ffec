/**
 * Autobahn's test suite against live streams on both engines: 247 cases of RFC 6455 (1 to 7, and 10), 0 may fail.
 *
 * Run: `npx tsx test/soak/autobahn.ts`; `--engines uws,node`, `--cases 1.*,7.*`, `--json`, `--wstest "python2.7 -m
 * autobahntestsuite.wstest"`. The suite needs Python 2.7: `python2.7 -m pip install autobahntestsuite`.
 * @module
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { EngineName } from '../../src/engine/options.ts'
import { serve } from '../../src/server/listener.ts'
import service from './autobahn.service.ts'

const { values: options } = parseArgs({
  options: {
    engines: { type: 'string', default: 'uws,node' },
    json: { type: 'boolean', default: false },
    cases: { type: 'string', default: '1.*,2.*,3.*,4.*,5.*,6.*,7.*,10.*' },
    wstest: { type: 'string', default: 'python2.7 -m autobahntestsuite.wstest' },
  },
})
const [program, ...args] = options.wstest.split(' ')

/** What the suite says of one case. */
interface Verdict {
  readonly behavior: string
  readonly behaviorClose: string
}

async function run(engine: EngineName): Promise<Record<string, Verdict>> {
  const folder = mkdtempSync(join(tmpdir(), 'serving-autobahn-'))
  const listener = await serve(service, { port: 0, host: '127.0.0.1', engine, logLevel: 'error' })
  try {
    const url = `ws://127.0.0.1:${listener.port}/echo`
    const spec = {
      outdir: folder,
      cases: options.cases.split(','),
      'exclude-cases': [],
      'exclude-agent-cases': {},
    }
    const file = join(folder, 'spec.json')
    writeFileSync(file, JSON.stringify({ ...spec, servers: [{ agent: engine, url }] }))
    const child = spawn(program, [...args, '-m', 'fuzzingclient', '-s', file], {
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    const [code] = await once(child, 'exit')
    if (code !== 0) throw new Error(`${options.wstest} ended with ${code}`)
    return JSON.parse(readFileSync(join(folder, 'index.json'), 'utf8'))[engine]
  } finally {
    await listener.close({ atOnce: true })
    rmSync(folder, { recursive: true, force: true })
  }
}

const isFailed = (verdict: string) =>
  verdict === 'FAILED' || verdict === 'WRONG CODE' || verdict === 'UNCLEAN'
const all: Record<string, Record<string, Verdict>> = {}
for (const engine of options.engines.split(',') as EngineName[]) {
  all[engine] = await run(engine)
  const verdicts = Object.entries(all[engine])
  const counts: Record<string, number> = {}
  for (const [, { behavior }] of verdicts) counts[behavior] = (counts[behavior] ?? 0) + 1
  console.error(`${engine}: ${verdicts.length} cases, ${JSON.stringify(counts)}`)
  for (const [name, { behavior, behaviorClose }] of verdicts) {
    if (!isFailed(behavior) && !isFailed(behaviorClose)) continue
    console.error(`  ${name}: ${behavior}, closed ${behaviorClose}`)
    process.exitCode = 1
  }
}
if (options.json) console.log(JSON.stringify(all))
