import { type ApiInfo, type DescriptorInfo, queryId } from '../../client/description.ts'
import { frameFromJson, seriesFromJson } from '../../client/frames.ts'
import { urlOf } from './exchange.ts'
import { type Content, isJson } from './field.ts'

const maxInline = 2000
const maxLine = 110

/** Languages of the snippets. */
export type Language = 'curl' | 'Python' | 'TypeScript'

/** Returns the languages in which an API is shown. */
export function languagesOf({ isLive }: ApiInfo): readonly Language[] {
  return isLive ? ['TypeScript'] : ['curl', 'Python', 'TypeScript']
}

type Headers = Readonly<Record<string, string>>

/** Returns the call of an API in a language. `base` is the URL of the service, `headers` are of credentials. */
export function snippet(
  language: Language,
  api: ApiInfo,
  content: Content,
  base: string,
  headers: Headers = {},
  params: Readonly<Record<string, string>> = {},
): string {
  const url = urlOf(api, content, base, params)
  if (language === 'curl') return curl(api, content, url, headers)
  return language === 'Python' ? python(api, content, url, headers) : typescript(api, content, base, headers, params)
}

function textOf(content: Content): string | undefined {
  const { data } = content
  if (typeof data !== 'string' || data.length > maxInline) return undefined
  const line = isJson(content) ? onOneLine(data) : data
  return line.length <= maxLine ? line : data
}

/** Returns JSON without its line breaks. */
export function onOneLine(json: string): string {
  return json.replace(/"(?:[^"\\]|\\.)*"|\s+/g, (token) => (token.startsWith('"') ? token : ' '))
}

function fileOf(content: Content): string {
  return content.name ?? (isJson(content) ? 'body.json' : 'body.txt')
}

function curl({ method, input, output }: ApiInfo, content: Content, url: string, headers: Headers): string {
  const shell = (text: string) => (/^[\w./:-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)
  const { type, parts } = content
  const lines = [`curl ${output.id === 'serving.io.Text' ? '-N ' : ''}${shell(url)}`]
  if (method !== 'GET' && method !== 'POST') lines.push(`-X ${method}`)
  for (const line of Object.entries(headers)) lines.push(`-H ${shell(line.join(': '))}`)
  for (const [name, part] of parts ?? []) {
    const text = textOf(part)
    const value = text === undefined ? `@${fileOf(part)}` : quotedInForm(text)
    lines.push(`-F ${shell(`${name}=${value};type=${part.type?.split(';')[0]}`)}`)
  }
  if (input.id !== queryId && parts === undefined) {
    const text = textOf(content)
    lines.push(`-H ${shell(`content-type: ${type}`)}`)
    if (text === undefined) lines.push(`--data-binary ${shell(`@${fileOf(content)}`)}`)
    else lines.push(`${isJson(content) ? '-d' : '--data-raw'} ${shell(text)}`)
  }
  if (!['application/json', 'text/plain'].some((known) => output.mimeTypes[0]?.startsWith(known))) {
    lines.push(`-o ${shell(`answer.${output.mimeTypes[0]?.split('/')[1]?.replace(/\W.*/, '') || 'bin'}`)}`)
  }
  return lines.join(' \\\n  ')
}

function quotedInForm(text: string): string {
  return /[;,"\\]|^[@<]/.test(text) ? `"${text.replace(/["\\]/g, '\\$&')}"` : text
}

function python({ method, input, output }: ApiInfo, content: Content, url: string, credentials: Headers): string {
  const { type, parts } = content
  const isText = output.id === 'serving.io.Text'
  const text = textOf(content)
  const options = [JSON.stringify(url)]
  let headers = credentials
  if (parts !== undefined) options.push(`files=[\n${parts.map(pythonPart).join('')}    ]`)
  else if (input.id !== queryId && isJson(content) && text) options.push(`json=${pythonValue(text)}`)
  else if (input.id !== queryId) {
    options.push(`data=${pythonBytes(content)}`)
    headers = { 'content-type': String(type), ...credentials }
  }
  const named = Object.entries(headers).map((line) => line.map((word) => JSON.stringify(word)).join(': '))
  if (named.length > 0) options.push(`headers={${named.join(', ')}}`)
  if (isText) options.push('stream=True')
  const line = options.join(', ')
  const isShort = line.length < 70 || options.length === 1
  const call = `requests.${method.toLowerCase()}(${isShort ? line : `\n    ${options.join(',\n    ')},\n`})`
  const read = isText
    ? 'for piece in response.iter_content(None, decode_unicode=True):\n    print(piece, end="", flush=True)'
    : output.mimeTypes[0] === 'application/json'
      ? 'print(response.json())'
      : 'open("answer", "wb").write(response.content)'
  return `import requests\n\nresponse = ${call}\nresponse.raise_for_status()\n${read}\n`
}

/** JSON as Python has it: its texts, numbers, lists and objects are Python's, too. */
function pythonValue(json: string): string {
  const words: Readonly<Record<string, string>> = { true: 'True', false: 'False', null: 'None' }
  const text = json.replace(/"(?:[^"\\]|\\.)*"|true|false|null/g, (token) => words[token] ?? token)
  return text.trim().replaceAll('\n', '\n    ')
}

function pythonBytes(content: Content): string {
  const text = textOf(content)
  return text === undefined ? `open(${JSON.stringify(fileOf(content))}, "rb")` : `${JSON.stringify(text)}.encode()`
}

function pythonPart([name, part]: readonly [string, Content]): string {
  const file = part.name === undefined ? 'None' : JSON.stringify(part.name)
  const text = textOf(part)
  const value = text === undefined ? pythonBytes(part) : JSON.stringify(text)
  return `        (${JSON.stringify(name)}, (${file}, ${value}, ${JSON.stringify(part.type?.split(';')[0])})),\n`
}

function typescript(api: ApiInfo, content: Content, base: string, headers: Headers, params: Headers): string {
  const value = content.parts === undefined ? literalOf(api.input, content) : `{\n${formMembers(api.input, content)}}`
  const options = Object.keys(headers).length === 0 ? '' : `, { headers: ${JSON.stringify(headers)} }`
  const own = Object.keys(params).length === 0 ? '' : `, { params: ${JSON.stringify(params)} }`
  const method = /^[A-Za-z_$][\w$]*$/.test(api.name) ? `client.${api.name}` : `client[${quoted(api.name)}]`
  const call = `${method}(${value}${own})`
  const live = `const live = ${method}.open()\nawait live.send(${value})\n`
  return [
    ...(value.includes('openAsBlob') ? ["import { openAsBlob } from 'node:fs'"] : []),
    "import { createClient } from 'serving/client'",
    "import type * as service from './service.ts' // exports the APIs\n",
    `const client = createClient<typeof service>(${quoted(base)}${options})`,
    api.isLive
      ? `${live}for await (const answer of live) console.log(answer)\n`
      : api.output.id === 'serving.io.Text'
        ? `for await (const piece of ${call}) console.log(piece)\n`
        : `console.log(await ${call})\n`,
  ].join('\n')
}

function formMembers({ parts = new Map() }: DescriptorInfo, content: Content): string {
  return [...parts].reduce((text, [name, info]) => {
    const own = content.parts?.filter(([other]) => other === name).map(([, part]) => literalOf(info, part)) ?? []
    if (info.occurrence === 'many') return `${text}  ${key(name)}: [${own.join(', ')}],\n`
    return own.length === 0 ? text : `${text}  ${key(name)}: ${own[0]},\n`
  }, '')
}

function literalOf({ id, args }: DescriptorInfo, content: Content): string {
  const text = textOf(content)
  if (text === undefined) return `await openAsBlob(${quoted(fileOf(content))})`
  if (!isJson(content)) return quoted(text)
  try {
    if (id === 'serving.io.PandasDataFrame') return JSON.stringify(frameFromJson(JSON.parse(text), String(args.orient)))
    if (id === 'serving.io.PandasSeries') return JSON.stringify(seriesFromJson(JSON.parse(text)))
  } catch {}
  return text.trim()
}

function quoted(text: string): string {
  return `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`
}

function key(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : quoted(name)
}
