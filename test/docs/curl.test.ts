import { describe, expect, it } from 'vitest'
import { serveFile } from '../cli/process.ts'
import { curl, examplesOf } from './curl.ts'

describe.each([
  ['README.md', '## Start', 'examples/models/service.ts'],
  ['README.md', '## Descriptors', 'examples/all/service.ts'],
  ['README.md', '## Open Inference Protocol', 'examples/models/service.ts'],
  ['README.md', '## Clients', 'examples/models/service.ts'],
  ['examples/iris/README.md', '', 'examples/iris/service.ts'],
  ['examples/digits/README.md', '', 'examples/digits/service.ts'],
])('the curl lines of %s %s', (file, heading, service) => {
  it('answer what stands below them', async () => {
    const examples = examplesOf(file, heading)
    expect(examples.length).toBeGreaterThan(0)
    const { port } = await serveFile(service, ['--workers', '1'])
    for (const { line, answer } of examples) {
      // An ellipsis stands for what the document leaves out.
      const start = answer.split('…')[0]
      expect((await curl(line, port)).slice(0, start.length), line).toBe(start)
    }
  })
})
