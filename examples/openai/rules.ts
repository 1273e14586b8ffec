/**
 * No language model, but rules that look like one: it calls a tool whose name is in the question, and fills a schema
 * with the words and numbers of the question. For programs that need tools or structured answers to run at all.
 * @module
 */
import type { ChatContent, ChatRequest, Delta, Prompt } from 'serving/openai'

const dims = 64

interface Schema {
  readonly type?: string
  readonly enum?: readonly unknown[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly $ref?: string
  readonly $defs?: Readonly<Record<string, Schema>>
}

interface Tool {
  readonly function: { readonly name: string; readonly parameters?: Schema }
}

export function load() {
  return {
    /** Calls a tool, fills the schema, or says what came. */
    async *chat(request: ChatRequest<ChatContent>): AsyncGenerator<Delta> {
      const last = request.messages.at(-1)!
      const question = textOf(
        request.messages.findLast(({ role }) => role === 'user')?.content ?? last.content,
      )
      const tool = last.role === 'tool' ? undefined : toolFor(request, question)
      const schema = schemaOf(request)
      if (tool !== undefined) {
        const { name, parameters = {} } = tool.function
        yield { tool_call: { name, arguments: '' } }
        const json = JSON.stringify(fill(parameters, question))
        // In pieces, as language models write.
        for (let at = 0; at < json.length; at += 8)
          yield { tool_call: { arguments: json.slice(at, at + 8) } }
      } else if (schema !== undefined)
        yield* JSON.stringify(fill(schema, question)).match(/.{1,8}/gs) ?? []
      else
        yield* wordsOf(last.role === 'tool' ? `The tool says: ${textOf(last.content)}` : said(last))
      yield { usage: { prompt_tokens: question.split(' ').length } }
    },
    /** Counts words or tokens in 64 numbers. */
    embed(inputs: readonly Prompt[]) {
      return inputs.map((input) => {
        const vector = new Float32Array(dims)
        const tokens = typeof input === 'string' ? input.toLowerCase().split(/\W+/) : input
        for (const token of tokens) vector[hashOf(String(token)) % dims] += 1
        const length = Math.hypot(...vector) || 1
        return vector.map((each) => each / length)
      })
    },
  }
}

/** Returns the tool that the request asks for, or that the question names. */
function toolFor(request: ChatRequest<ChatContent>, question: string): Tool | undefined {
  const { tool_choice: choice = 'auto' } = request
  const tools = (request.tools ?? []) as readonly Tool[]
  if (choice === 'none') return undefined
  if (choice === 'required') return tools[0]
  if (typeof choice === 'object') {
    const { function: wanted } = choice as { readonly function?: { readonly name: string } }
    return tools.find((tool) => tool.function.name === wanted?.name)
  }
  const words = question.toLowerCase()
  return tools.find((tool) =>
    tool.function.name
      .split(/_|(?=[A-Z])/)
      .some((word) => word.length > 3 && words.includes(word.toLowerCase())),
  )
}

/** Returns the schema of the answer: for `json_object`, one in the first message. */
function schemaOf({ response_format, messages }: ChatRequest<ChatContent>): Schema | undefined {
  const { type, json_schema } = (response_format ?? {}) as {
    readonly type?: string
    readonly json_schema?: { readonly schema: Schema }
  }
  if (type !== 'json_object') return json_schema?.schema
  try {
    return JSON.parse(/\{.*\}/s.exec(textOf(messages[0].content))?.[0] ?? '{}')
  } catch {
    return {}
  }
}

/** Fills a schema: numbers and names of the question, in their order. */
function fill(root: Schema, question: string): unknown {
  const numbers = question.match(/-?\d+(\.\d+)?/g)?.map(Number) ?? []
  // Behind the first word of a sentence, a capital letter begins a name.
  const names = question.match(/(?<=[^.?!\s]\s)\p{Lu}[\p{L}'-]+/gu) ?? []
  const first = question.match(/\p{Lu}[\p{L}'-]+/u)?.[0]
  const valueOf = (schema: Schema): unknown => {
    if (schema.$ref !== undefined)
      return valueOf(root.$defs?.[schema.$ref.replace('#/$defs/', '')] ?? {})
    if (schema.anyOf !== undefined) return valueOf(schema.anyOf[0])
    if (schema.enum !== undefined)
      return schema.enum.find((each) => question.includes(String(each))) ?? schema.enum[0]
    if (schema === root || schema.type === 'object')
      return Object.fromEntries(
        Object.entries(schema.properties ?? {}).map(([name, each]) => [name, valueOf(each)]),
      )
    if (schema.type === 'array') return [valueOf(schema.items ?? {})]
    if (schema.type === 'integer') return Math.round(numbers.shift() ?? 0)
    if (schema.type === 'number') return numbers.shift() ?? 0
    if (schema.type === 'boolean') return /\byes\b/i.test(question)
    if (schema.type === 'null') return null
    return names.shift() ?? first ?? question
  }
  return valueOf(root)
}

function textOf(content: ChatContent): string {
  if (typeof content === 'string') return content
  return content.map((part) => (part.type === 'text' ? part.text : '')).join(' ')
}

/** Says what the last message has. */
function said({ content }: { readonly content: ChatContent }): string {
  if (typeof content === 'string') return 'I follow rules. I call tools and fill schemas.'
  const parts = content.flatMap((part) => {
    if (part.type === 'image_url') return [`a picture of ${part.image.width}×${part.image.height}`]
    if (part.type === 'input_audio') return [`a sound of ${part.audio.size} bytes`]
    return []
  })
  return `I see ${parts.join(' and ')}.`
}

function* wordsOf(text: string): Generator<string> {
  yield* text.match(/\s*\S+/g) ?? []
}

function hashOf(text: string): number {
  let hash = 0
  for (const char of text) hash = (hash * 31 + (char.codePointAt(0) ?? 0)) >>> 0
  return hash
}
