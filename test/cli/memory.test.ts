import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { folder, serveFile, until } from './process.ts'

const service = `
import { io, NDArray, Service } from 'serving'
const svc = new Service('doubling')
svc.api({ input: new io.NumpyNdarray(), output: new io.NumpyNdarray() }, function double(x) {
  return new NDArray(x.data.map((value) => value * 2), x.shape)
})
svc.api({ input: new io.Text(), output: new io.Text() }, function pid(text) { return String(process.pid) })
export default svc
`

/** Resident memory of a process. **Units**: bytes. */
const rssOf = (pid: number) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024

describe.skipIf(process.platform !== 'linux')('the memory of a worker', () => {
  it('comes back after a burst of large bodies', async () => {
    const { port } = await serveFile(`${folder({ 'service.mjs': service }, true)}/service.mjs`, ['--workers', '1'])
    const post = async (api: string, body: string, type = 'application/json') =>
      (
        await fetch(`http://127.0.0.1:${port}/${api}`, { method: 'POST', body, headers: { 'content-type': type } })
      ).text()
    const pid = Number(await post('pid', '', 'text/plain'))
    // Warm: code is compiled and the add-on has run, so that what is measured is what a burst leaves behind.
    await post('double', '[1,2]')
    const before = rssOf(pid)
    const large = `[${Array.from({ length: 1_000_000 }, (_, i) => i / 7).join()}]`
    for (let round = 0; round < 2; round++) await Promise.all(Array.from({ length: 16 }, () => post('double', large)))
    expect(rssOf(pid)).toBeGreaterThan(2 * before)
    await until(() => rssOf(pid) <= 1.5 * before)
  }, 120_000)
})
