/** The call for what is in the form: curl, Python, TypeScript. @module */
import type { ApiInfo, DescriptorInfo } from '../../client/description.ts'
import { encodeQuery } from '../../client/encode.ts'
import { frameFromJson, seriesFromJson } from '../../client/frames.ts'
import type { Content } from './field.ts'

const maxInline = 2000

/** Languages of the snippets. */
export const languages = ['curl', 'Python', 'TypeScript'] as const

/** Returns the call of an API in a language. `base` is the URL of the service. */
export function snippet(language: (typeof languages)[number], api: ApiInfo, content: Content, base: string): string {
  if (language === 'curl') return curl(api, content, base)
  return language === 'Python' ? python(api, content, base) : typescript(api, content, base)
}

function textOf({ data }: Content): string | undefined {
  return typeof data === 'string' && data.length <= maxInline ? data : undefined
}

function fileOf({ name, data }: Content): string {
  return name ?? (typeof data === 'string' ? 'body.txt' : 'file')
}

function curl(api: ApiInfo, content: Content, base: string): string {
  const { path, output } = api
  const shell = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`
  const lines = [`curl ${output.id === 'serving.io.Text' ? '-N ' : ''}${shell(base + path + queryOf(api, content))}`]
  const { type, parts } = content
  if (api.method === 'POST' && parts !== undefined) {
    for (const [name, part] of parts) {
      const text = textOf(part)
      const essence = part.type?.split(';')[0]
      const value = text === undefined ? `@${fileOf(part)}` : form(text)
      lines.push(`-F ${shell(`${name}=${value};type=${essence}`)}`)
    }
  } else if (api.method === 'POST') {
    const text = textOf(content)
    lines.push(`-H ${shell(`content-type: ${type}`)}`)
    lines.push(text === undefined ? `--data-binary ${shell(`@${fileOf(content)}`)}` : `--data-raw ${shell(text)}`)
  }
  if (!['application/json', 'text/plain'].some((known) => output.mimeTypes[0]?.startsWith(known))) {
    lines.push(`-o ${shell(`answer.${output.mimeTypes[0]?.split('/')[1]?.replace(/\W.*/, '') || 'bin'}`)}`)
  }
  return lines.join(' \\\n  ')
}

function queryOf({ method, name }: ApiInfo, { data }: Content): string {
  return method === 'GET' ? encodeQuery(JSON.parse(String(data)), name) : ''
}

function form(text: string): string {
  return /[;,"\\]|^[@<]/.test(text) ? `"${text.replace(/["\\]/g, '\\$&')}"` : text
}

function python(api: ApiInfo, content: Content, base: string): string {
  const { path, output, method } = api
  const { type, parts } = content
  const literal = (part: Content) => {
    const text = textOf(part)
    return text === undefined ? `open(${JSON.stringify(fileOf(part))}, "rb")` : `${JSON.stringify(text)}.encode()`
  }
  const body =
    parts === undefined
      ? `    data=${literal(content)},\n    headers={"content-type": ${JSON.stringify(type)}},`
      : `    files=[\n${parts
          .map(([name, part]) => {
            const file = part.name === undefined ? 'None' : JSON.stringify(part.name)
            return `        (${JSON.stringify(name)}, (${file}, ${literal(part)}, ${JSON.stringify(part.type)})),\n`
          })
          .join('')}    ],`
  const isText = output.id === 'serving.io.Text'
  const read = isText
    ? 'for piece in response.iter_content(None, decode_unicode=True):\n    print(piece, end="", flush=True)'
    : output.mimeTypes[0] === 'application/json'
      ? 'print(response.json())'
      : 'open("answer", "wb").write(response.content)'
  const options = isText ? '\n    stream=True,' : ''
  const url = JSON.stringify(base + path + queryOf(api, content))
  const rest = method === 'GET' ? options : `\n${body}${options}`
  const call = `response = requests.${method.toLowerCase()}(\n    ${url},${rest}\n)`
  return `import requests\n\n${call}\nresponse.raise_for_status()\n${read}\n`
}

function typescript(api: ApiInfo, content: Content, base: string): string {
  const value = content.parts === undefined ? literalOf(api.input, content) : `{\n${formMembers(api.input, content)}}`
  const method = /^[A-Za-z_$][\w$]*$/.test(api.name) ? `client.${api.name}` : `client[${quoted(api.name)}]`
  const isText = api.output.id === 'serving.io.Text'
  return [
    ...(value.includes('openAsBlob') ? ["import { openAsBlob } from 'node:fs'"] : []),
    "import { createClient } from 'serving/client'\n",
    `const client = createClient<typeof import('./service.ts')>(${quoted(base)})`,
    isText
      ? `for await (const piece of ${method}(${value})) console.log(piece)\n`
      : `console.log(await ${method}(${value}))\n`,
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
  if (!content.type?.startsWith('application/json')) return quoted(text)
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
