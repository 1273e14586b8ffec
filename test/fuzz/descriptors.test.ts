import { BadInput, Context, HeaderList, HttpRequest, UnsupportedMediaType } from 'serving'
import { describe, expect, it } from 'vitest'
import { fuzzRequest, type Kind } from './corpora.ts'
import service from './fuzz.service.ts'

// `npm run fuzz` sends thousands of these to real servers.
const counts: Readonly<Partial<Record<Kind, number>>> = { image: 600, frame: 800, body: 1000 }

/** Decodes a body with the descriptor of its path. */
async function outcomeOf(seed: number, kind: Kind, index: number): Promise<'read' | 'refused'> {
  const { path, contentType, body } = fuzzRequest(seed, kind, index)
  const headers = HeaderList.from(contentType === undefined ? {} : { 'content-type': contentType })
  const ctx = new Context({ headers })
  const before = Buffer.from(body)
  try {
    await service.apis
      .get(path.slice(1))
      ?.input.fromHttpRequest(new HttpRequest(headers, body), ctx)
    return 'read'
  } catch (error) {
    const isRefusal = error instanceof BadInput || error instanceof UnsupportedMediaType
    if (!isRefusal) throw new Error(`--seed ${seed} --only ${kind}:${index}`, { cause: error })
    return 'refused'
  } finally {
    ctx.end()
    expect(before.equals(body)).toBe(true)
  }
}

describe.each(Object.entries(counts))('damaged bodies of kind %s', (kind, count) => {
  it.each([11, 12])(
    'with seed %d give a value or a BadInput, and stay as they were',
    async (seed) => {
      const outcomes = { read: 0, refused: 0 }
      for (let i = 0; i < count; i++) outcomes[await outcomeOf(seed, kind as Kind, i)]++
      expect(outcomes.read).toBeGreaterThan(count / 20)
      expect(outcomes.refused).toBeGreaterThan(count / 20)
    },
  )
})
