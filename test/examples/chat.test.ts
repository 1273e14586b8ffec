import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { load } from '../../examples/chat/model.ts'
import svc from '../../examples/chat/service.ts'

beforeAll(() => svc.start())
afterAll(() => svc.stop())

const prompt = 'How does batching work?'
const headers = { 'content-type': 'text/plain' }

it('answers with words of the corpus, piece by piece, and the same each time', async () => {
  const pieces: string[] = []
  for await (const piece of load().reply(prompt)) pieces.push(piece)
  expect(pieces.length).toBeGreaterThan(10)
  const corpus = readFileSync(new URL('../../examples/chat/corpus.txt', import.meta.url), 'utf8')
  const words = new Set(corpus.split(/\s/))
  expect(pieces.filter((piece) => !words.has(piece.trim()))).toEqual([])
  const response = await svc.inject({ path: '/reply', body: prompt, headers })
  expect(response.status).toBe(200)
  expect(response.text()).toBe(pieces.join(''))
  expect(response.text()).toMatch(/batch/i)
})

it('has a page', async () => {
  const response = await svc.inject({ path: '/chat' })
  expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(response.text()).toContain("fetch('/reply'")
})
