/** What the scenarios of `@modelcontextprotocol/conformance` ask a server for, as a service: see mcp.py. @module */
import { BadInput, io, Service } from 'serving'
import { z } from 'zod'

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
const wav = Buffer.from('UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=', 'base64')
const none = new io.JSON({ schema: z.object({}) })
const text = new io.Text()
const picture = new io.File({ mimeType: 'image/png' })
const prompt = { prompt: true }
const pause = () => new Promise((resolve) => setTimeout(resolve, 50))

const svc = new Service('conformance', { mcp: true })
svc.api({ input: none, output: text, doc: 'A text.' }, function test_simple_text() {
  return 'This is a simple text response for testing.'
})
svc.api({ input: none, output: picture, doc: 'A picture.' }, function test_image_content() {
  return png
})
const sound = new io.File({ mimeType: 'audio/wav' })
svc.api({ input: none, output: sound, doc: 'A sound.' }, function test_audio_content() {
  return wav
})
const file = new io.File({ mimeType: 'application/x-own' })
svc.api({ input: none, output: file, doc: 'A file.' }, function test_embedded_resource() {
  return Buffer.from('This is an embedded resource content.')
})
const parts = new io.Multipart({ note: text, picture, resource: file })
svc.api({ input: none, output: parts, doc: 'Parts.' }, function test_multiple_content_types() {
  return { note: 'Multiple content types test:', picture: png, resource: Buffer.from('{}') }
})
svc.api({ input: none, output: text, doc: 'Fails.' }, function test_error_handling(): string {
  throw new BadInput('This tool intentionally returns an error for testing')
})
svc.api(
  { input: none, output: text, doc: 'Tells its progress.', async: true },
  async function test_tool_with_progress(_, ctx) {
    for (const done of [0, 50, 100]) {
      await ctx.job?.progress(done)
      await pause()
    }
    return 'done'
  },
)
svc.api(
  { input: none, output: text, doc: 'A prompt.', mcp: prompt },
  function test_simple_prompt() {
    return 'This is a simple prompt for testing.'
  },
)
const two = new io.JSON({ schema: z.object({ arg1: z.string(), arg2: z.string() }) })
svc.api(
  { input: two, output: text, doc: 'With arguments.', mcp: prompt },
  function test_prompt_with_arguments({ arg1, arg2 }) {
    return `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`
  },
)
const uri = new io.JSON({ schema: z.object({ resourceUri: z.string() }) })
svc.api(
  {
    input: uri,
    output: new io.Multipart({ resource: file, note: text }),
    doc: 'A file.',
    mcp: prompt,
  },
  function test_prompt_with_embedded_resource({ resourceUri }) {
    return {
      resource: Buffer.from(resourceUri),
      note: 'Please process the embedded resource above.',
    }
  },
)
svc.api(
  {
    input: none,
    output: new io.Multipart({ picture, note: text }),
    doc: 'A picture.',
    mcp: prompt,
  },
  function test_prompt_with_image() {
    return { picture: png, note: 'Please analyze the image above.' }
  },
)
const address = z.object({ street: z.string(), city: z.string() }).meta({ id: 'address' })
const parcel = z.strictObject({ name: z.string(), address }).partial()
svc.api(
  { input: new io.JSON({ schema: parcel }), output: text, doc: 'A schema of 2020-12.' },
  function json_schema_2020_12_tool() {
    return 'done'
  },
)
svc.get(
  '/static-text',
  { output: text, doc: 'A text.', mcp: { uri: 'test://static-text' } },
  () => 'This is the content of the static text resource.',
)
svc.get(
  '/static-binary',
  { output: picture, doc: 'A picture.', mcp: { uri: 'test://static-binary' } },
  () => png,
)
svc.get(
  '/template/{id}/data',
  { output: new io.JSON(), doc: 'By id.', mcp: { uri: 'test://template/{id}/data' } },
  (_, { params: { id } }) => ({ id, templateTest: true, data: `Data for ID: ${id}` }),
)

export default svc
