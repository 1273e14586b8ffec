import { problemMediaType } from '../../http/problem.ts'

/** Where a problem stands in the document, which each API brings. */
const problem = {
  content: { [problemMediaType]: { schema: { $ref: '#/components/schemas/Problem' } } },
}

/** @returns the answers to GET beside the whole, where `range` and conditional headers are read. */
export function partAnswers(content: Readonly<Record<string, object>>) {
  return {
    206: { description: 'The part that `range` asks for.', content },
    304: { description: 'The client has this state.' },
    412: { description: 'The client asks for another state.', ...problem },
    416: { description: 'There is no such part.', ...problem },
  }
}
