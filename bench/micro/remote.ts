/**
 * What a call of a model of another server costs its caller: a Runner with a `url` against a call of grpc-js with the
 * same bytes to the same server, taking turns, one call at a time. CPU is this process's. Run after `npm run build`:
 * `npx tsx --tsconfig bench/tsconfig.json bench/micro/remote.ts`
 * @module
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, credentials } from '@grpc/grpc-js'
import { NDArray, Runner } from 'serving'
import { oipCases } from '../cases/oip.ts'
import { startContender } from '../contender.ts'

const rounds = 9
const sizes = [
  { title: '1×4 float32', case: 'OIP gRPC: raw 1×4', model: 'rows', shape: [1, 4], calls: 400 },
  {
    title: '3×224×224 float32',
    case: 'OIP gRPC: raw 3×224×224 float32',
    model: 'picture',
    shape: [1, 3, 224, 224],
    calls: 40,
  },
]
const asIs = (bytes: Buffer) => bytes
const median = (numbers: readonly number[]) =>
  numbers.toSorted((a, b) => a - b)[numbers.length >> 1]
const options = { 'grpc.max_receive_message_length': -1, 'grpc.max_send_message_length': -1 }

const folder = mkdtempSync(join(tmpdir(), 'bench-'))
try {
  for (const size of sizes) await measure(size)
} finally {
  rmSync(folder, { recursive: true, force: true })
}

async function measure({
  title,
  case: name,
  model,
  shape,
  calls,
}: (typeof sizes)[number]): Promise<void> {
  const plan = oipCases.find((each) => each.name === name)
  assert(plan !== undefined)
  const job = { name, ...(await plan.make()) }
  const bodyFile = join(folder, 'body')
  writeFileSync(bodyFile, job.body)
  await using rpc = await startContender('serving, gRPC', job, bodyFile)
  await using http = await startContender('serving', job, bodyFile)
  const grpcOrigin = new URL(rpc.url as string)
  const client = new Client(grpcOrigin.host, credentials.createInsecure(), options)
  const message = Buffer.from(job.body)
  const bare = () =>
    new Promise<Buffer>((resolve, reject) => {
      client.makeUnaryRequest(job.path, asIs, asIs, message, (error, answer) =>
        answer === undefined ? reject(error) : resolve(answer),
      )
    })
  const size = shape.reduce((product, dim) => product * dim)
  const x = new NDArray(
    Float32Array.from({ length: size }, (_, i) => i / 8),
    shape,
  )
  const runnerAt = async (url: string) => {
    const runner = new Runner('away', { url, model })
    await runner.start()
    const { data } = await runner.predict(x)
    assert.deepEqual(data, x.data)
    return runner
  }
  const overGrpc = await runnerAt(`grpc://${grpcOrigin.host}`)
  const overHttp = await runnerAt(new URL(http.url as string).origin)
  assert(job.isRight(await bare(), ''))
  const contenders = [bare, () => overGrpc.predict(x), () => overHttp.predict(x)]
  const times = contenders.map((): number[] => [])
  const cpus = contenders.map((): number[] => [])
  for (let round = 0; round <= rounds; round++) {
    for (const [i, call] of contenders.entries()) {
      const before = process.cpuUsage()
      const start = performance.now()
      for (let done = 0; done < calls; done++) await call()
      const { user, system } = process.cpuUsage(before)
      // The first round warms up.
      if (round === 0) continue
      times[i].push(((performance.now() - start) * 1000) / calls)
      cpus[i].push((user + system) / calls)
    }
  }
  console.log(
    `${title}: median of ${rounds} rounds of ${calls} calls, µs a call, and over grpc-js's`,
  )
  for (const [i, kind] of ['grpc-js', 'Runner, grpc:', 'Runner, http:'].entries()) {
    const [time, cpu] = [median(times[i]), median(cpus[i])]
    const ratios = [time / median(times[0]), cpu / median(cpus[0])].map((ratio) => ratio.toFixed(2))
    console.log(
      `  ${kind.padEnd(14)} time ${time.toFixed(0)} (${ratios[0]}), CPU ${cpu.toFixed(0)} (${ratios[1]})`,
    )
  }
  client.close()
  await Promise.all([overGrpc.stop(), overHttp.stop()])
}
