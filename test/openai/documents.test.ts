import { toFile } from 'openai'
import { describe, expect, it } from 'vitest'
import { engines } from '../engines.ts'
import { key, rejected, serveModels } from './harness.ts'

describe.each(engines)('documents and recordings of openai on %s', (engine) => {
  const on = serveModels(engine, [])

  it('ranks documents', async () => {
    const rank = async (body: object) => {
      const asked = { model: 'able', query: 'a', ...body }
      return await on.client.post<Record<string, unknown>>('/rerank', { body: asked })
    }
    const documents = ['b', { text: 'aaa' }, 'a']
    const order = [
      { index: 1, relevance_score: 3 },
      { index: 2, relevance_score: 1 },
      { index: 0, relevance_score: 0 },
    ]
    expect(await rank({ documents })).toMatchObject({
      id: expect.stringMatching(/^rerank-./),
      model: 'able',
      results: order,
      usage: { total_tokens: 7 },
    })
    expect(await rank({ documents, top_n: 1, return_documents: true })).toMatchObject({
      results: [{ ...order[0], document: { text: 'aaa' } }],
    })
    expect((await rank({ documents: ['a'], query: 'array' })).results).toHaveLength(1)
    expect(await rejected(rank({ documents, query: 'few' }))).toMatchObject({ status: 500 })
    for (const [body, param] of [
      [{ documents: [] }, 'documents'],
      [{ documents: ['a', 5] }, 'documents[1]'],
      [{ documents, query: 5 }, 'query'],
      [{ documents, top_n: 0 }, 'top_n'],
    ] as const)
      expect(await rejected(rank(body))).toMatchObject({ status: 400, param })
  })

  it('writes down what is said', async () => {
    const file = await toFile(Buffer.from('RIFF'), 'a.wav', { type: 'audio/wav' })
    const write = (extra: object = {}) =>
      on.client.audio.transcriptions.create({ file, model: 'able', ...extra })
    const text = 'sound of 4 bytes'
    expect(await write()).toMatchObject({ text, usage: { prompt_tokens: 3 } })
    expect(await write({ response_format: 'text' })).toBe(text)
    const asked = {
      response_format: 'verbose_json',
      language: 'en',
      prompt: 'p',
      temperature: 0.5,
      timestamp_granularities: ['segment', 'word'],
    }
    expect(await write(asked)).toMatchObject({ text, language: 'en', segments: [{ id: 0 }] })
    const { response_format: _, ...received } = asked
    expect((await on.runner.seen()).requests.at(-1)).toEqual({ model: 'able', ...received })
    const events: unknown[] = []
    for await (const event of await on.client.audio.transcriptions.create({
      file,
      model: 'able',
      stream: true,
    }))
      events.push(event)
    expect(events).toEqual([
      { type: 'transcript.text.delta', delta: 'sound ' },
      { type: 'transcript.text.delta', delta: 'of 4 bytes' },
      { type: 'transcript.text.done', text, usage: { prompt_tokens: 3 } },
    ])
    for (const [extra, param] of [
      [{ response_format: 'srt' }, 'response_format'],
      [{ temperature: 2 }, 'temperature'],
      [{ model: 'other' }, 'model'],
    ] as const)
      expect(await rejected(write(extra))).toMatchObject({ param })
    expect(await rejected(write({ prompt: 'fail' }))).toMatchObject({ code: 'function_error' })
  })

  it('reads a long recording as it arrives', async () => {
    const file = await toFile(Buffer.alloc(1_000_000), 'a.wav', { type: 'audio/wav' })
    expect(await on.client.audio.transcriptions.create({ file, model: 'able' })).toMatchObject({
      text: 'sound of 1000000 bytes',
    })
    const wrong = await fetch(`${on.url}/v1/audio/transcriptions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: '{}',
    })
    expect(wrong.status).toBe(415)
    expect(await wrong.json()).toMatchObject({ error: { code: 'unsupported_media_type' } })
  })
})
