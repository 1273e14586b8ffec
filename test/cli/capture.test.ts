import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { root, run, serveFile } from './process.ts'

/** A folder with what a served API has recorded. */
async function captured(): Promise<string> {
  const cwd = mkdtempSync(join(tmpdir(), 'serving-capture-'))
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }))
  const file = join(cwd, 'service.mjs')
  writeFileSync(
    file,
    `import { io, Service } from ${JSON.stringify(join(root, 'dist/index.js'))}
const svc = new Service('recorded', { capture: { rate: 1, to: 'file:./capture' } })
svc.api({ input: new io.JSON(), output: new io.JSON() }, function draw() { throw new Error() })
svc.api({ input: new io.File(), output: new io.JSON() }, function size({ size }) { return size })
export default svc
`,
  )
  const server = await serveFile(file, ['--workers', '1'], { cwd })
  const post = (api: string, body: string, type: string) =>
    fetch(`http://127.0.0.1:${server.port}/${api}`, {
      method: 'POST',
      body,
      headers: { 'content-type': type },
    })
  await post('draw', '[1]', 'application/json')
  for (const body of ['a', 'bc']) await post('size', body, 'text/plain')
  server.child.kill('SIGTERM')
  await server.exited
  return cwd
}

describe('serving capture', () => {
  it('lists, shows and deletes what a service has recorded', async () => {
    const cwd = await captured()
    const { stdout: files } = await run(['capture', 'ls'], { cwd })
    expect(files.trim().split('\n')).toEqual([
      expect.stringMatching(/^\d+\t.*capture\/draw\/[\w-]+\.parquet$/),
      expect.stringMatching(/^\d+\t.*capture\/size\/[\w-]+\.parquet$/),
    ])
    const { stdout: shown } = await run(['capture', 'show', 'capture/size', '--limit', '1'], {
      cwd,
    })
    expect(
      shown
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toMatchObject([
      {
        api: 'size',
        status: 200,
        'input.bytes': 'YQ==',
        output: '1',
        time: expect.stringMatching(/Z$/),
      },
    ])
    const place = join(cwd, 'capture/size')
    const then = new Date(Date.now() - 7_200_000)
    for (const name of readdirSync(place)) utimesSync(join(place, name), then, then)
    const { stdout: deleted } = await run(['capture', 'prune', '--older-than', '1h'], { cwd })
    expect(deleted).toMatch(/^deleted .*capture\/size\/[\w-]+\.parquet\n$/)
    expect(readdirSync(place)).toEqual([])
    expect(readdirSync(join(cwd, 'capture/draw'))).toHaveLength(1)
  })

  it('says what is wrong with a place or an age', async () => {
    const absent = await run(['capture', 'ls', '/nowhere'])
    expect([absent.code, absent.stderr]).toEqual([
      1,
      expect.stringContaining('there is no folder /nowhere'),
    ])
    const wrong = await run(['capture', 'prune', '.', '--older-than', 'old'])
    expect(wrong.stderr).toContain('for --older-than')
    expect((await run(['capture', 'prune', '.'])).code).toBe(2)
  })
})
