/**
 * Clients that know nothing of serving, against `examples/openai`, if the folder `AGENT_CLIENTS` has them:
 *
 *     export AGENT_CLIENTS="$(mktemp -d)" && test/openai/clients/install.sh "$AGENT_CLIENTS"
 *     npx vitest run test/openai/clients.test.ts
 */
import { execFile, spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import svc from '../../examples/openai/service.ts'
import { type Listener, Runner, Service, serve } from '../../src/index.ts'
import { openai } from '../../src/protocols/openai/index.ts'

const folder = process.env.AGENT_CLIENTS ?? ''
const sources = fileURLToPath(new URL('clients/', import.meta.url))
const timeout = 120_000
const scratch = mkdtempSync(join(tmpdir(), 'serving-clients-'))
const listeners: Listener[] = []
/** Of the example, and of its models with a job store, where Node has one. */
const urls: string[] = []

beforeAll(async () => {
  const services = isBuiltin('node:sqlite') ? [svc, keeping()] : [svc]
  for (const each of services) {
    const options = { port: 0, host: '127.0.0.1', drainTimeoutMs: 0, logLevel: 'fatal' } as const
    const listener = await serve(each, options)
    listeners.push(listener)
    urls.push(`http://127.0.0.1:${listener.port}`)
  }
})
afterAll(async () => {
  await Promise.all(listeners.map((listener) => listener.close()))
  rmSync(scratch, { recursive: true, force: true })
})

function keeping(): Service {
  const example = (name: string) => new URL(`../../examples/openai/${name}.ts`, import.meta.url)
  const stream = { stream: true } as const
  const tiny = new Runner<typeof import('../../examples/openai/model.ts')>('kept-tiny', {
    module: example('model'),
    methods: { chat: stream },
  })
  const rules = new Runner<typeof import('../../examples/openai/rules.ts')>('kept-rules', {
    module: example('rules'),
    methods: { chat: stream },
  })
  const models = { tiny, rules: { runner: rules, accepts: ['tools', 'response_format', 'images'] } }
  return new Service('keeping', {
    jobs: { store: `sqlite:${join(scratch, 'jobs.db')}` },
    protocols: [openai({ models: models as never, async: true })],
  })
}

async function told(program: string, args: readonly string[]): Promise<unknown> {
  const { stdout } = await promisify(execFile)(program, args, { cwd: folder })
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '')
}

/** Runs a program of `clients/` beside the packages, so that it finds them. */
function node(...[file, ...args]: readonly string[]) {
  copyFileSync(join(sources, file), join(folder, file))
  return told(process.execPath, [file, urls[0], ...args, ...urls.slice(1)])
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
      responses: [true, 'response.completed', weatherText, ann],
    }
    return [name, ['openai.mjs', name], expected] as const
  }),
  ...['6', '7'].map((version) => {
    const answers = {
      text: true,
      tools: [[weather], called],
      streamedTools: [weather],
      structured: ann,
      parts: picture,
    }
    const kept = isBuiltin('node:sqlite') && { kept: answers }
    const expected = { chat: answers, responses: answers, ...kept, embeddings: 2 }
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
      responses: [true, weather],
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
      responses: [true, weatherText, ann],
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
      tokens: 2,
      responses: [true, weather],
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
      responses: true,
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
      expect(await told(python, [join(sources, 'clients.py'), urls[0], client])).toEqual(expected)
    })
  }

  function canImport(name: string): boolean {
    return spawnSync(python, ['-c', `import ${name}`], { stdio: 'ignore' }).status === 0
  }
})
