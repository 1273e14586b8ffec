import { BadInput, io } from 'serving'
import { describe, expect, it } from 'vitest'
import { requestOf } from '../unit/descriptors/requests.ts'
import { filesBelow, madeCorpus, publicCorpus } from './corpus.ts'

const json = new io.JSON()
const ndarray = new io.NumpyNdarray()
const suite = publicCorpus('JSONTestSuite')

/** `syntax` for what is refused as no JSON; another reason when it is JSON, but no value of the descriptor. */
async function verdict(
  descriptor: io.IODescriptor<unknown, never>,
  body: string | Uint8Array,
): Promise<string> {
  try {
    await descriptor.fromHttpRequest(requestOf(body, 'application/json'))
    return 'accepted'
  } catch (error) {
    if (!(error instanceof BadInput)) throw error
    return error.reason ?? 'no reason'
  }
}

// Beside JSON, arrays take what Python's json writes.
const beyondJson = /NaN|Infinity/

describe('texts one edit away from JSON', () => {
  const texts = madeCorpus<[text: string, isJson: boolean]>('json.json')

  it('are JSON where they are for Python, and nothing else is', async () => {
    const wrong: unknown[] = []
    for (const [text, isJson] of texts) {
      const found = await verdict(json, text)
      if ((found === 'accepted') !== isJson || (!isJson && found !== 'syntax'))
        wrong.push([text, isJson, found])
    }
    expect(texts.length).toBeGreaterThan(2000)
    expect(wrong).toEqual([])
  })

  it('are never an array unless they are JSON, or NaN and Infinity stand in them', async () => {
    const wrong: unknown[] = []
    let accepted = 0
    for (const [text, isJson] of texts) {
      const found = await verdict(ndarray, text)
      if (found === 'accepted') accepted++
      if (found === 'accepted' && !isJson && !beyondJson.test(text))
        wrong.push([text, isJson, found])
      if (isJson && found === 'syntax') wrong.push([text, isJson, found])
    }
    expect(accepted).toBeGreaterThan(100)
    expect(wrong).toEqual([])
  })
})

// https://github.com/nst/JSONTestSuite, MIT
describe.skipIf(suite === undefined)('JSONTestSuite', () => {
  const files = [...filesBelow(suite, /^test_parsing\/.*\.json$/)].map(
    ([name, body]) => [name.slice('test_parsing/'.length), body] as const,
  )

  it.each(files)('%s', async (name, body) => {
    const found = [await verdict(json, body), await verdict(ndarray, body)]
    if (name.startsWith('y_')) {
      expect(found[0]).toBe('accepted')
      expect(found[1]).not.toBe('syntax')
    }
    if (name.startsWith('n_')) {
      expect(found[0]).not.toBe('accepted')
      expect(found[1] === 'accepted' && !beyondJson.test(String(body))).toBe(false)
    }
  })
})
