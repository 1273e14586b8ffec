import { readFileSync } from 'node:fs'
import { io } from 'serving'
import { describe, expect, it } from 'vitest'
import type { FrameCodec, ParsedFrame } from '../../../src/values/table/json/frame-codec.ts'
import {
  nativeFrameCodec,
  typescriptFrameCodec,
} from '../../../src/values/table/json/native-codec.ts'
import { requestOf } from './requests.ts'

const { PandasDataFrame, PandasSeries, labels, withLabels } = io

// What pandas writes: see mixed.py.
const texts: Record<string, string> = JSON.parse(
  readFileSync(new URL('../../fixtures/frames/labels.json', import.meta.url), 'utf8'),
)
const own = [0.5, -1, 1e300]
const json = (body: string) => requestOf(Buffer.from(body), 'application/json')
const echo = async (orient: 'split' | 'table' | 'index' | 'columns', body: string) => {
  const frames = new PandasDataFrame({ orient })
  const frame = await frames.fromHttpRequest(json(body))
  return { frames, frame, text: JSON.parse(String((await frames.toHttpResponse(frame)).body)) }
}

describe('labels of floats', () => {
  it.each(['split', 'table'] as const)(
    'are read and written as pandas does: %s',
    async (orient) => {
      const { frame, text } = await echo(orient, texts[orient])
      expect(labels(frame)).toEqual(own)
      expect(text).toEqual(JSON.parse(texts[orient]))
    },
  )

  it.each(['index', 'columns'] as const)('are texts where they are keys: %s', async (orient) => {
    const { frame, text } = await echo(orient, texts[orient])
    expect(labels(frame)).toEqual(Object.keys(JSON.parse(texts.index)))
    expect(text).toEqual(JSON.parse(texts[orient]))
  })

  it('are written as keys, recognisable as floats', async () => {
    const { frame } = await echo('split', texts.split)
    const { body } = await new PandasDataFrame({ orient: 'index' }).toHttpResponse(frame)
    expect(String(body)).toContain('"-1.0":{"x":2}')
  })

  it('are read and written in series and messages', async () => {
    const series = new PandasSeries({ orient: 'split' })
    const value = await series.fromHttpRequest(json(texts.series))
    expect(labels(value)).toEqual(own)
    expect(JSON.parse(String((await series.toHttpResponse(value)).body))).toEqual(
      JSON.parse(texts.series),
    )
    const { frames, frame } = await echo('split', texts.split)
    expect(labels(await frames.fromProto(await frames.toProto(frame)))).toEqual(own)
  })

  it('are set by withLabels, beside integers', async () => {
    const { frame } = await echo('split', texts.split)
    expect(labels(withLabels(frame, [1, 2.5, 3n]))).toEqual([1, 2.5, 3])
    expect(() => withLabels(frame, [1, Number.NaN, 3])).toThrow('all strings or all numbers')
    expect(() => withLabels(frame, ['a', 1, 'b'])).toThrow('received 1')
  })

  it.each(['[null,1.5]', '["a",1.5]', '[1.5,"a"]', '[-Infinity,1]', '[[1],[2]]', '[true,1.5]'])(
    'are refused beside others: %s',
    async (index) => {
      const body = `{"columns":["x"],"index":${index},"data":[[1],[2]]}`
      const read = async () => new PandasDataFrame({ orient: 'split' }).fromHttpRequest(json(body))
      await expect(read()).rejects.toMatchObject({ code: 'bad_input', reason: 'columns' })
      const own = typescriptFrameCodec.parseFrame(Buffer.from(body), 'split')
      expect(own).toMatchObject({ failure: 'labels' })
      if (nativeFrameCodec === undefined) return
      expect(nativeFrameCodec.parseFrame(Buffer.from(body), 'split')).toMatchObject({
        failure: 'labels',
      })
    },
  )

  it
    .runIf(nativeFrameCodec !== undefined)
    .each(['[0.5,1]', '[1,0.5]', '[-0,9007199254740993]', '[1e300,-1]'])(
    'are the same by both codecs: %s',
    (index) => {
      const body = Buffer.from(`{"index":${index},"columns":["x"],"data":[[1],[2]]}`)
      const labelsBy = (codec: FrameCodec | undefined) => {
        const parsed = codec?.parseFrame(body, 'split') as ParsedFrame
        return { kind: parsed.labels?.kind, bytes: [...(parsed.labels?.data ?? [])] }
      }
      expect(labelsBy(nativeFrameCodec)).toEqual(labelsBy(typescriptFrameCodec))
    },
  )
})
