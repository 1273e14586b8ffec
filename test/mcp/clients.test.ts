/**
 * Clients of the Model Context Protocol that know nothing of serving, if the folder `AGENT_CLIENTS` has them:
 *
 *     export AGENT_CLIENTS="$(mktemp -d)" && test/openai/clients/install.sh "$AGENT_CLIENTS"
 *     npx vitest run test/mcp/clients.test.ts
 */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { io, Service } from 'serving'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { latest, sessionVersions } from '../../src/protocols/mcp/messages.ts'
import { folder as scratch } from '../jobs/harness.ts'
import { open } from './harness.ts'

const folder = process.env.AGENT_CLIENTS ?? ''
const timeout = 120_000
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC',
  'base64',
)

function shop(): Service {
  const svc = new Service('shop', {
    mcp: true,
    jobs: { store: `sqlite:${join(scratch(), 'jobs.db')}` },
  })
  const text = new io.Text()
  svc.api(
    {
      input: new io.JSON({ schema: z.object({ a: z.number(), b: z.number() }) }),
      output: new io.JSON({ schema: z.object({ sum: z.number() }) }),
    },
    function add({ a, b }) {
      return { sum: a + b }
    },
  )
  const nothing = new io.JSON({ schema: z.object({}) })
  svc.api({ input: nothing, output: new io.File({ mimeType: 'image/png' }) }, function picture() {
    return png
  })
  svc.api(
    {
      input: new io.JSON({ schema: z.object({ to: z.number() }) }),
      output: text,
      async: true,
    },
    async function count({ to }, ctx) {
      for (let i = 1; i <= to; i++) await ctx.job?.progress(i)
      return `${to}`
    },
  )
  svc.api(
    {
      input: new io.JSON({ schema: z.object({ name: z.string() }) }),
      output: text,
      mcp: { prompt: true },
    },
    function greet({ name }) {
      return `Greet ${name}.`
    },
  )
  svc.get('/hours', { output: text }, () => '9 to 5')
  svc.get('/items/{id}', { output: new io.JSON() }, (_, { params: { id } }) => ({ id }))
  return svc
}

const seen = {
  tools: ['add', 'picture', 'count'],
  called: { sum: 3 },
  failed: true,
  picture: ['image', 'image/png'],
  count: ['3', [1, 2, 3]],
  prompt: 'Greet Ann.',
  resources: ['serving://shop/hours'],
  templates: ['serving://shop/items/{id}'],
  read: { id: '7' },
}

async function run(program: string, args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(program, args, { cwd: folder })
  return stdout
}

describe.skipIf(!isBuiltin('node:sqlite'))('clients of MCP', () => {
  const python = join(folder, 'venv-mcp/bin/python')
  const program = fileURLToPath(new URL('clients/clients.py', import.meta.url))
  it.skipIf(!existsSync(python)).each([
    ['mcp', 'legacy', sessionVersions[0]],
    ['mcp', 'auto', latest],
    ['mcp', latest, latest],
    ['fastmcp', 'legacy', sessionVersions[0]],
    ['fastmcp', 'auto', latest],
  ])('%s of PyPI, mode %s', { timeout }, async (name, mode, version) => {
    const { url } = await open(shop())
    const told = await run(python, [program, String(url), name, mode])
    expect(JSON.parse(told)).toEqual({ version, ...seen })
  })

  const inspector = join(folder, 'node_modules/.bin/mcp-inspector')
  it.skipIf(!existsSync(inspector))("the Inspector's command line", { timeout }, async () => {
    const { url } = await open(shop())
    const ask = async (...args: readonly string[]) =>
      JSON.parse(
        await run(inspector, ['--cli', String(url), '--transport', 'http', '--method', ...args]),
      )
    const { tools } = await ask('tools/list')
    expect(tools.map(({ name }: { name: string }) => name)).toEqual(seen.tools)
    const args = ['--tool-name', 'add', '--tool-arg', 'a=1', '--tool-arg', 'b=2']
    expect(await ask('tools/call', ...args)).toMatchObject({ structuredContent: seen.called })
    const prompt = await ask('prompts/get', '--prompt-name', 'greet', '--prompt-args', 'name=Ann')
    expect(prompt.messages).toMatchObject([{ content: { text: seen.prompt } }])
    const { resources } = await ask('resources/list')
    expect(resources).toMatchObject([{ uri: seen.resources[0] }])
    const { contents } = await ask('resources/read', '--uri', 'serving://shop/hours')
    expect(contents).toMatchObject([{ text: '9 to 5' }])
  })
})
