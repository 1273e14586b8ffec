/** The subprotocol of live streams, for any text: what one side writes, the other reads. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ApiInfo, DescriptorInfo } from '../../../src/client/description.ts'
import { contentOf, escaped } from '../../../src/client/live-frames.ts'
import { BadInput } from '../../../src/core/errors.ts'
import { closeReason, escapeText, isControl, parseControl } from '../../../src/live/framing.ts'

/** Texts that look like control messages, or nearly. */
const nearControls = fc
  .tuple(
    fc.constantFrom(
      '{"$":',
      '{"$":"value","value":',
      '{"$":"end"}',
      '{"$":"ping"}',
      '{"$"',
      ' {"$":',
    ),
    fc.string({ unit: 'binary' }),
    fc.constantFrom('', '}', '"}', '}}'),
  )
  .map((parts) => parts.join(''))
const texts = fc.oneof(fc.string({ unit: 'binary' }), nearControls)
const values = fc.oneof(
  fc.jsonValue(),
  texts,
  fc.record({ $: fc.oneof(texts, fc.jsonValue()), more: fc.jsonValue() }),
)
const info = (isJson: boolean) =>
  ({
    id: isJson ? 'serving.io.JSON' : 'serving.io.Text',
    args: {},
    mimeTypes: [isJson ? 'application/json' : 'text/plain'],
  }) as unknown as DescriptorInfo
const apiOf = (isJson: boolean) => ({ input: info(isJson) }) as ApiInfo

/** What the server's function gets of a text message. */
function received(message: string, isJson: boolean): string {
  const bytes = Buffer.from(message)
  if (!isControl(bytes)) return bytes.toString()
  const control = parseControl(bytes, isJson)
  if (control.$ !== 'value') throw new Error(`a value came as ${control.$}`)
  return control.text
}

describe('the subprotocol of live streams', () => {
  it('brings any text to the server and back', async () => {
    await fc.assert(
      fc.asyncProperty(texts, async (given) => {
        // Bytes of UTF-8 hold no half of a surrogate pair.
        const text = given.toWellFormed()
        expect(received(escaped(apiOf(false), text), false)).toBe(text)
        expect(await contentOf(info(false), escapeText(text, false)).text()).toBe(text)
      }),
      { numRuns: 1000 },
    )
  })

  it('brings any JSON to the server and back', async () => {
    await fc.assert(
      fc.asyncProperty(values, async (value) => {
        const text = JSON.stringify(value).toWellFormed()
        expect(received(escaped(apiOf(true), text), true)).toBe(text)
        expect(await contentOf(info(true), escapeText(text, true)).text()).toBe(text)
      }),
      { numRuns: 1000 },
    )
  })

  it('takes or refuses any bytes as a control message', () => {
    const bytes = fc
      .tuple(nearControls, fc.uint8Array())
      .map(([text, more]) => Buffer.concat([Buffer.from(text), more]))
    fc.assert(
      fc.property(bytes, fc.boolean(), (given, isJson) => {
        try {
          expect(['end', 'ping', 'value']).toContain(parseControl(given, isJson).$)
        } catch (error) {
          expect(error).toBeInstanceOf(BadInput)
        }
      }),
      { numRuns: 1000 },
    )
  })

  it('gives close frames reasons of at most 123 bytes, without halves of characters', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (given) => {
        const text = given.toWellFormed()
        const reason = closeReason(text)
        expect(Buffer.byteLength(reason)).toBeLessThanOrEqual(123)
        expect(text.startsWith(reason)).toBe(true)
      }),
      { numRuns: 1000 },
    )
  })
})
