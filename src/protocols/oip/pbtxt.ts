/** Protobuf's text format, as far as model configurations (`config.pbtxt`) use it. @module */
import { expected, InvalidArgument } from '../../core/errors.ts'

/** Every field has a list of its values, in their order. */
export interface TextMessage {
  readonly [field: string]: readonly TextValue[]
}

/** Words of enums are strings, too. */
export type TextValue = string | number | boolean | TextMessage

const token =
  /\s*(?:#[^\n]*\s*)*("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[A-Za-z_][\w.]*|[-+]?[\d.][\w.+-]*|[:{}[\],;<>])/y

/**
 * `place` names the file in errors.
 *
 * @throws InvalidArgument with the offset.
 */
export function parseTextMessage(text: string, place: string): TextMessage {
  const tokens: { readonly text: string; readonly at: number }[] = []
  token.lastIndex = 0
  while (token.lastIndex < text.length) {
    const start = token.lastIndex
    const found = token.exec(text)?.[1]
    if (found === undefined) {
      if (/^\s*(?:#[^\n]*\s*)*$/.test(text.slice(start))) break
      throw fault('protobuf text', start)
    }
    tokens.push({ text: found, at: start })
  }
  let next = 0
  const peek = () => tokens[next]?.text

  return message(undefined)

  function message(end: string | undefined): TextMessage {
    const fields: Record<string, TextValue[]> = Object.create(null)
    while (peek() !== end) {
      const name = peek()
      if (name === undefined || !/^[A-Za-z_]/.test(name))
        throw fault('the name of a field', tokens[next]?.at)
      next++
      if (peek() === ':') next++
      fields[name] ??= []
      if (peek() === '[') list(fields[name])
      else fields[name].push(value())
      if (peek() === ',' || peek() === ';') next++
    }
    if (end !== undefined) next++
    return fields
  }

  function list(into: TextValue[]): void {
    next++
    while (peek() !== ']') {
      into.push(value())
      if (peek() === ',') next++
    }
    next++
  }

  function value(): TextValue {
    const found = tokens[next++]
    if (found === undefined) throw fault('a value', text.length)
    if (found.text === '{') return message('}')
    if (found.text === '<') return message('>')
    if (/^["']/.test(found.text)) return found.text.slice(1, -1).replace(/\\(.)/g, '$1')
    if (found.text === 'true' || found.text === 'false') return found.text === 'true'
    if (/^[-+\d.]/.test(found.text)) return Number(found.text)
    if (/^[A-Za-z_]/.test(found.text)) return found.text
    throw fault('a value', found.at)
  }

  function fault(what: string, at = text.length): InvalidArgument {
    return new InvalidArgument(expected(what, place, text.slice(at, at + 40).trim()))
  }
}
