import { type ApiInfo, type DescriptorInfo, queryId } from '../../client/description.ts'
import { frameFromJson, seriesFromJson } from '../../client/frames.ts'
import { urlOf } from './exchange.ts'
import { type Content, isJson } from './field.ts'
import { infoOf, type ListedApi } from './other-apis.ts'

const maxInline = 2000
const maxLine = 110

/** Languages of the snippets. */
export type Language = 'curl' | 'Python' | 'TypeScript'

/** @returns the languages in which an API is shown. */
export function languagesOf({ isLive, group }: ListedApi): readonly Language[] {
  if (group !== undefined) return ['curl', 'Python']
  if (isLive) return ['TypeScript']
  return ['curl', 'Python', 'TypeScript']
}

type Headers = Readonly<Record<string, string>>

/**
 * `base` is the URL of the service, `headers` are of credentials.
 *
 * @returns the call of an API in a language.
 */
export function snippet(
  language: Language,
  api: ApiInfo,
  content: Content,
  base: string,
  headers: Headers = {},
  params: Readonly<Record<string, string>> = {},
  isJob = false,
): string {
  const url = urlOf(api, content, base, params)
  if (language === 'TypeScript') return typescript(api, content, base, headers, params, isJob)
  const { write, result } = writers[language]
  if (!isJob) return write(api, content, url, headers)
  // The answer to a job is its state, as JSON.
  const submission = { ...api, output: jobOutput }
  const submit = write(submission, content, url, { prefer: 'respond-async', ...headers })
  return submit + result(base, headers)
}

const writers = {
  curl: { write: curl, result: curlResult },
  Python: { write: python, result: pythonResult },
}

const jobOutput = infoOf({ content: { 'application/json': {} } })

function curlResult(base: string, headers: Headers): string {
  const lines = [
    `curl ${shell(`${base}/jobs/ID/result`)}`,
    ...headerFlags({ prefer: 'wait=60', ...headers }),
  ]
  return `\n\n# The answer, by the id of the job:\n${onLines(lines)}`
}

function headerFlags(headers: Headers): string[] {
  return Object.entries(headers).map((line) => `-H ${shell(line.join(': '))}`)
}

const onLines = (words: readonly string[]) => words.join(' \\\n  ')

function pythonResult(base: string, headers: Headers): string {
  const all = pythonHeaders({ prefer: 'wait=60', ...headers })
  const result = `requests.get(f"${base}/jobs/{job}/result", headers=${all})`
  return `\njob = response.json()["id"]\nresult = ${result}\nprint(result.text)\n`
}

const lines = 'application/x-ndjson'

/** Whether an answer comes in pieces. */
function isStream({ output }: ApiInfo): boolean {
  return (
    output.id === 'serving.io.Text' ||
    output.mimeTypes.some((type) => type === lines || type === 'text/event-stream')
  )
}

/** @returns the name of a file for an answer that is no text; undefined for others. */
function fileFor({ output }: ApiInfo): string | undefined {
  const [type = 'application/octet-stream'] = output.mimeTypes
  const [kind, subtype = ''] = type.split(';')[0].split('/')
  if (kind === 'text' || type === lines || /json$/.test(subtype)) return undefined
  if (subtype === 'octet-stream' || subtype === '*' || kind === 'multipart') return 'answer.bin'
  return `answer.${subtype.replace(/^x-|^vnd\.(?:[^.]+\.)*|\+.*$/g, '').replace('jpeg', 'jpg')}`
}

function shell(text: string): string {
  if (/^[\w./:-]+$/.test(text)) return text
  return `'${text.replaceAll("'", `'\\''`)}'`
}

function textOf(content: Content): string | undefined {
  const { data } = content
  if (typeof data !== 'string' || data.length > maxInline) return undefined
  const line = isJson(content) ? onOneLine(data) : data
  if (line.length <= maxLine) return line
  return data
}

/** @returns JSON without its line breaks. */
export function onOneLine(json: string): string {
  return json.replace(/"(?:[^"\\]|\\.)*"|\s+/g, (token) => (token.startsWith('"') ? token : ' '))
}

function fileOf(content: Content): string {
  return content.name ?? (isJson(content) ? 'body.json' : 'body.txt')
}

function curl(api: ApiInfo, content: Content, url: string, headers: Headers): string {
  const { method, input } = api
  const { type, parts } = content
  const lines = [`curl ${isStream(api) ? '-N ' : ''}${shell(url)}`]
  if (method !== 'GET' && method !== 'POST') lines.push(`-X ${method}`)
  lines.push(...headerFlags(headers))
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
  const file = fileFor(api)
  if (file !== undefined) lines.push(`-o ${file}`)
  return onLines(lines)
}

function quotedInForm(text: string): string {
  if (/[;,"\\]|^[@<]/.test(text)) return `"${text.replace(/["\\]/g, '\\$&')}"`
  return text
}

function python(api: ApiInfo, content: Content, url: string, credentials: Headers): string {
  const { method, input } = api
  const { type, parts } = content
  const text = textOf(content)
  const options = [JSON.stringify(url)]
  let headers = credentials
  if (parts !== undefined) options.push(`files=[\n${parts.map(pythonPart).join('')}    ]`)
  else if (input.id !== queryId && isJson(content) && text)
    options.push(`json=${pythonValue(text)}`)
  else if (input.id !== queryId) {
    options.push(`data=${pythonBytes(content)}`)
    headers = { 'content-type': String(type), ...credentials }
  }
  if (Object.keys(headers).length > 0) options.push(`headers=${pythonHeaders(headers)}`)
  if (isStream(api)) options.push('stream=True')
  const call = `requests.${method.toLowerCase()}(\n    ${options.join(',\n    ')},\n)`
  return `import requests\n\nresponse = ${call}\nresponse.raise_for_status()\n${pythonRead(api)}\n`
}

function pythonHeaders(headers: Headers): string {
  return JSON.stringify(headers, null, 1)
    .replace(/\n */g, ' ')
    .replace(/^\{ | \}$/g, (end) => end.trim())
}

function pythonRead(api: ApiInfo): string {
  const file = fileFor(api)
  if (file !== undefined) return `open("${file}", "wb").write(response.content)`
  if (api.output.id === 'serving.io.Text') {
    return 'for piece in response.iter_content(None, decode_unicode=True):\n    print(piece, end="", flush=True)'
  }
  if (isStream(api)) return 'for line in response.iter_lines():\n    print(line.decode())'
  const [type = ''] = api.output.mimeTypes
  return `print(response.${/json$/.test(type) ? 'json()' : 'text'})`
}

/** JSON as Python has it: its texts, numbers, lists and objects are Python's, too. */
function pythonValue(json: string): string {
  const words: Readonly<Record<string, string>> = { true: 'True', false: 'False', null: 'None' }
  const text = json.replace(/"(?:[^"\\]|\\.)*"|true|false|null/g, (token) => words[token] ?? token)
  return text.trim().replaceAll('\n', '\n    ')
}

function pythonBytes(content: Content): string {
  const text = textOf(content)
  if (text === undefined) return `open(${JSON.stringify(fileOf(content))}, "rb")`
  return `${JSON.stringify(text)}.encode()`
}

function pythonPart([name, part]: readonly [string, Content]): string {
  const file = part.name === undefined ? 'None' : JSON.stringify(part.name)
  const text = textOf(part)
  const value = text === undefined ? pythonBytes(part) : JSON.stringify(text)
  return `        (${JSON.stringify(name)}, (${file}, ${value}, ${JSON.stringify(part.type?.split(';')[0])})),\n`
}

function typescript(
  api: ApiInfo,
  content: Content,
  base: string,
  headers: Headers,
  params: Headers,
  isJob: boolean,
): string {
  const { parts } = content
  const value = parts ? formMembers(api.input, parts) : literalOf(api.input, content)
  const name = key(api.name)
  const method = name === api.name ? `client.${name}` : `client[${name}]`
  const call = `${method}${isJob ? '.submit' : ''}(${value}${optionText('params', params)})`
  const read = typescriptRead(
    api,
    call,
    isJob,
    `const live = ${method}.open()\nawait live.send(${value})\n`,
  )
  return [
    ...nodeImports.filter(([name]) => read.includes(name)).map(([, line]) => line),
    "import { createClient } from 'serving/client'",
    "import type * as service from './service.ts' // exports the APIs\n",
    `const client = createClient<typeof service>(${quoted(base)}${optionText('headers', headers)})`,
    read,
  ].join('\n')
}

const nodeImports = [
  ['openAsBlob', "import { openAsBlob } from 'node:fs'"],
  ['writeFile', "import { writeFile } from 'node:fs/promises'"],
] as const

/** @returns an option as the last argument of a call; nothing for an empty one. */
function optionText(name: string, values: Headers): string {
  if (Object.keys(values).length === 0) return ''
  return `, { ${name}: ${JSON.stringify(values)} }`
}

function typescriptRead(api: ApiInfo, call: string, isJob: boolean, live: string): string {
  if (api.isLive) return `${live}for await (const answer of live) console.log(answer)\n`
  if (isJob) {
    const events = 'for await (const change of job.events()) console.log(change)'
    return `const job = await ${call}\n${events}\nconsole.log(await job.result())\n`
  }
  if (['serving.io.Image', 'serving.io.File'].includes(api.output.id)) {
    const name = fileFor(api) ?? 'answer.txt'
    return `const file = await ${call}\nawait writeFile('${name}', file.stream())\n`
  }
  if (isStream(api)) return `for await (const piece of ${call}) console.log(piece)\n`
  return `console.log(await ${call})\n`
}

function formMembers(
  { parts = new Map() }: DescriptorInfo,
  contents: NonNullable<Content['parts']>,
) {
  const members = [...parts].flatMap(([name, info]) => {
    const ofPart = contents.filter(([other]) => other === name)
    const values = ofPart.map(([, part]) => literalOf(info, part))
    const isMany = info.occurrence === 'many'
    const given = isMany ? [`[${values.join(', ')}]`] : values.slice(0, 1)
    return given.map((value) => `  ${key(name)}: ${value},\n`)
  })
  return `{\n${members.join('')}}`
}

function literalOf({ id, args }: DescriptorInfo, content: Content): string {
  const text = textOf(content)
  if (text === undefined) return `await openAsBlob(${quoted(fileOf(content))})`
  if (!isJson(content)) return quoted(text)
  try {
    if (id === 'serving.io.PandasDataFrame')
      return JSON.stringify(frameFromJson(JSON.parse(text), String(args.orient)))
    if (id === 'serving.io.PandasSeries') return JSON.stringify(seriesFromJson(JSON.parse(text)))
  } catch {}
  return text.trim()
}

function quoted(text: string): string {
  return `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`
}

function key(name: string): string {
  if (/^[A-Za-z_$][\w$]*$/.test(name)) return name
  return quoted(name)
}
