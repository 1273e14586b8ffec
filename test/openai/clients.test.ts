/**
 * Clients that know nothing of serving, against `examples/openai`, if the folder `OPENAI_CLIENTS` has them:
 *
 *     export OPENAI_CLIENTS="$(mktemp -d)" && test/openai/clients/install.sh "$OPENAI_CLIENTS"
 *     npx vitest run test/openai/clients.test.ts
 */
import { execFile, spawnSync } from 'node:child_process'
import { copyFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import svc from '../../examples/openai/service.ts'
import { type Listener, serve } from '../../src/index.ts'

const folder = process.env.OPENAI_CLIENTS ?? ''
const sources = fileURLToPath(new URL('clients/', import.meta.url))
const timeout = 120_000
let listener: Listener
let url: string

beforeAll(async () => {
  listener = await serve(svc, { port: 0, host: '127.0.0.1', drainTimeoutMs: 0, logLevel: 'fatal' })
  url = `http://127.0.0.1:${listener.port}`
})
afterAll(() => listener.close())

async function told(program: string, args: readonly string[]): Promise<unknown> {
  const { stdout } = await promisify(execFile)(program, args, { cwd: folder })
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '')
}

/** Runs a program of `clients/` beside the packages, so that it finds them. */
function node(...[file, ...args]: readonly string[]) {
  copyFileSync(join(sources, file), join(folder, file))
  return told(process.execPath, [file, url, ...args])
}

const ann = { name: 'Ann', age: 9 }
const weather = ['get_weather', { city: 'Paris' }]
const weatherText = ['get_weather', '{"city":"Paris"}']
const picture = 'I see a picture of 1×1.'
const called = 'The tool says: rain in Paris'

const inNode: readonly (readonly [needed: string, args: readonly string[], expected: object])[] = [
  ...['openai-6', 'openai-7'].map((name) => {
    const call = { name: 'get_weather', arguments: '{"city":"Paris"}' }
    const expected = {
      text: true,
      usage: true,
      tools: [call],
      streamedTools: call,
      runTools: ['Paris', called],
      structured: ann,
      parts: 'I see a picture of 1×1 and a sound of 4 bytes.',
      prompts: 2,
      n: 2,
      embeddings: 2,
      tokens: 2,
      refused: [400, 'tools'],
    }
    return [name, ['openai.mjs', name], expected] as const
  }),
  ...['6', '7'].map((version) => {
    const expected = {
      text: true,
      tools: [[weather], called],
      streamedTools: [weather],
      structured: ann,
      parts: picture,
      embeddings: 2,
    }
    return [`ai-${version}`, ['ai-sdk.mjs', version], expected] as const
  }),
  [
    '@langchain/openai',
    ['langchain.mjs'],
    {
      text: true,
      tools: weather,
      streamedTools: weather,
      structured: ann,
      byTool: ann,
      parts: picture,
      prompts: 2,
      embeddings: 2,
    },
  ],
]

const inPython: readonly (readonly [client: string, needed: string, expected: object])[] = [
  [
    'openai',
    'openai',
    {
      text: true,
      tools: weatherText,
      streamedTools: weatherText,
      structured: ann,
      parts: picture,
      prompts: 2,
      n: 2,
      embeddings: 2,
      tokens: 2,
    },
  ],
  [
    'langchain',
    'langchain_openai',
    {
      text: true,
      tools: weather,
      streamedTools: weather,
      structured: { json_schema: ann, function_calling: ann },
      parts: picture,
      prompts: 2,
      embeddings: 2,
    },
  ],
  [
    'llama_index',
    'llama_index',
    { text: true, tools: weather, streamedTools: weather, structured: ann, embeddings: 2 },
  ],
  [
    'litellm',
    'litellm',
    {
      text: true,
      tools: weatherText,
      streamedTools: weatherText,
      structured: ann,
      parts: picture,
      embeddings: 2,
      rerank: 1,
    },
  ],
  ['instructor', 'instructor', { TOOLS: ann, JSON: ann, JSON_SCHEMA: ann }],
]

describe('clients of npm', () => {
  for (const [needed, args, expected] of inNode)
    it.skipIf(!existsSync(join(folder, 'node_modules', needed)))(needed, { timeout }, async () => {
      expect(await node(...args)).toEqual(expected)
    })
})

describe('clients of PyPI', () => {
  const python = join(folder, 'venv/bin/python')
  for (const [client, needed, expected] of inPython) {
    const isThere = existsSync(python) && canImport(needed)
    it.skipIf(!isThere)(client, { timeout }, async () => {
      expect(await told(python, [join(sources, 'clients.py'), url, client])).toEqual(expected)
    })
  }

  function canImport(name: string): boolean {
    return spawnSync(python, ['-c', `import ${name}`], { stdio: 'ignore' }).status === 0
  }
})
