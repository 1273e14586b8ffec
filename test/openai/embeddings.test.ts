import { describe, expect, it } from 'vitest'
import { engines } from '../engines.ts'
import { rejected, serveModels } from './harness.ts'

describe.each(engines)('embeddings of openai on %s', (engine) => {
  const on = serveModels(engine)

  it('embeds texts as float and base64', async () => {
    const float = (text: string) =>
      [text.length, 0.1, -1 / 3].map((each) => Number(Math.fround(each)))
    for (const encoding_format of ['float', 'base64', undefined] as const) {
      for (const first of ['counted', 'array', 'rows']) {
        const answer = await on.client.embeddings.create({
          model: 'said',
          input: [first, 'b'],
          encoding_format,
        })
        expect(answer.data.map(({ index }) => index)).toEqual([0, 1])
        const vectors = answer.data.map(({ embedding }) => {
          if (encoding_format !== 'base64') return embedding.map(Math.fround)
          const bytes = Buffer.from(embedding as unknown as string, 'base64')
          return [0, 4, 8].map((at) => bytes.readFloatLE(at))
        })
        expect(vectors).toEqual([float(first), float('b')])
        const count = first === 'counted' ? first.length + 1 : 0
        expect(answer.usage).toEqual({ prompt_tokens: count, total_tokens: count })
      }
    }
    const one = await on.client.embeddings.create({
      model: 'org/embedder',
      input: 'x',
      encoding_format: 'float',
      dimensions: 3,
    })
    expect(one.data[0].embedding).toEqual([1, 0.1, -0.33333334])
  })

  it('refuses other dimensions, and vectors that cannot be sent', async () => {
    const embed = (input: string, dimensions?: number) =>
      rejected(
        on.client.embeddings.create({ model: 'said', input, dimensions, encoding_format: 'float' }),
      )
    expect(await embed('x', 2)).toMatchObject({ status: 400, param: 'dimensions' })
    for (const input of ['nan', 'few']) expect(await embed(input)).toMatchObject({ status: 500 })
  })
})
