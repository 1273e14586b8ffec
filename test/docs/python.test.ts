/** Runs the Python lines of the pages; those whose packages `PYTHON`, else `python3`, does not have are skipped. */
import { execFile, spawnSync } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { send, serveFile, until } from '../cli/process.ts'
import { codeBlocks, pages } from './markdown.ts'
import { python } from './python.ts'

const blocks = pages
  .flatMap((page) => codeBlocks(page))
  .map((block) => ({ ...block, answer: /\n# ([^\n]*)\n$/.exec(block.code)?.[1] }))
  .filter(
    ({ language, service, answer }) =>
      language === 'python' && service !== undefined && answer !== undefined,
  )

const canRun = (code: string) => {
  const imports = code.match(/^(?:import|from) .*$/gm)?.join('\n') ?? ''
  return spawnSync(python, ['-c', imports], { stdio: 'ignore' }).status === 0
}

it('the pages have Python lines', () => {
  expect(blocks.length).toBe(2)
})

for (const { page, line, code, answer, service = '' } of blocks) {
  it.skipIf(!canRun(code))(
    `${page}:${line} prints what stands below it`,
    { timeout: 60_000 },
    async () => {
      const { port } = await serveFile(service, ['--workers', '1'])
      await until(async () => (await send(port, '/readyz')).status === 200)
      const program = code.replaceAll('localhost:3000', `127.0.0.1:${port}`)
      const { stdout } = await promisify(execFile)(python, ['-W', 'ignore', '-c', program])
      expect(stdout.trim()).toBe(answer)
    },
  )
}
