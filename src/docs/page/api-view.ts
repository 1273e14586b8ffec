import type { ApiInfo, Operation } from '../../client/description.ts'
import { infoOf } from '../../client/job.ts'
import { startOf } from '../../core/json-schema/sample.ts'
import { membersIn } from '../../core/json-schema/shape.ts'
import { methodBadge } from './api-list.ts'
import { chatView } from './chat-view.ts'
import type { Control } from './control.ts'
import type { Credentials } from './credentials.ts'
import { button, choice, failure, fold, h } from './dom.ts'
import { send, showResponse } from './exchange.ts'
import type { Content, ErrorLocation } from './field.ts'
import { fieldOf } from './fields.ts'
import { mediaView } from './image-field.ts'
import { showJob } from './job-view.ts'
import { liveView } from './live-view.ts'
import { markdownView } from './markdown.ts'
import { unnamedControl } from './nested-control.ts'
import { openTarget } from './open-target.ts'
import {
  type Example,
  examplesOf,
  kindText,
  reference,
  type ServiceDocument,
  schemesOf,
} from './operation.ts'
import type { ListedApi } from './other-apis.ts'
import { type Language, languagesOf, onOneLine, snippet } from './snippets.ts'

/** What the page knows of the service. */
export interface Page {
  readonly base: string
  readonly document: ServiceDocument
  readonly credentials: Credentials
  /** The id of a job whose state is shown. */
  readonly job?: string | undefined
}

/** @returns an API for the page. */
export function apiView(api: ListedApi, page: Page): HTMLElement {
  const { base, document, credentials, job } = page
  const target = api.methods && openTarget(api, api.methods)
  const field = target?.field ?? fieldOf(api.input, 'the input', document)
  const called = () => target?.chosen() ?? api
  const operation = document.paths?.[api.path]?.[api.method.toLowerCase()] ?? {}
  const paramsControl = paramsOf(api, operation, document)
  const params = () => {
    const values = Object.entries(Object(paramsControl?.value()))
    return Object.fromEntries(values.map(([name, value]) => [name, String(value)]))
  }
  const mark = (locations: readonly ErrorLocation[]) => {
    const names = Object.keys(params())
    const isOfPath = ({ path = '' }: ErrorLocation) => names.includes(path)
    paramsControl?.mark(locations.filter(isOfPath))
    field.mark(locations.filter((each) => !isOfPath(each)))
  }
  const answer = h(
    'div.answer',
    { 'aria-live': 'polite' },
    h('p.empty', 'The answer appears here.'),
  )
  const fail = (message: string) => answer.append(failure(message))
  const sendButton = h('button.send', { type: 'submit' }, 'Send')
  const jobButton = h('button', { type: 'submit' }, 'Submit as a job')
  const live = api.isLive ? liveView(api, answer, field, base, credentials) : undefined
  let running: AbortController | undefined
  let isJob = false
  // From then on the first example comes too late.
  let isTouched = false
  const schemes = schemesOf(operation, document)
  const keys = Object.fromEntries(
    schemes.slice(0, 1).map(({ header, prefix }) => [header, `${prefix}YOUR_KEY`]),
  )
  credentials.ask(schemes)
  const code = codePanel(languagesOf(api), (language) =>
    snippet(language, called(), field.read(true), base, keys, params(), isJob),
  )

  const submit = async (event: Event) => {
    event.preventDefault()
    if (live !== undefined) return live.send()
    if (running !== undefined) return running.abort()
    isJob = (event as SubmitEvent).submitter === jobButton
    code.show()
    await run(async (signal, started) => {
      const headers = credentials.headers()
      const asked = isJob ? { ...headers, prefer: 'respond-async' } : headers
      const response = await send(called(), field.read(), base, asked, signal, params())
      if (response.status === 401) credentials.askAny()
      if (!isJob || response.status !== 202) return showResponse(answer, response, api, started)
      const { id } = await infoOf(response)
      // A reload of the page finds the job again.
      const hash = `#/${encodeURIComponent(api.name)}?job=${encodeURIComponent(id)}`
      history.replaceState(null, '', hash)
      return showJob(answer, id, { api, base, headers, signal, started })
    })
  }
  const run = async (work: (signal: AbortSignal, started: number) => Promise<ErrorLocation[]>) => {
    running = new AbortController()
    const { signal } = running
    mark([])
    answer.replaceChildren()
    sendButton.textContent = 'Stop'
    try {
      mark(await work(signal, performance.now()))
    } catch (error) {
      const stopped = isJob ? 'The job continues.' : 'Stopped.'
      fail(signal.aborted ? stopped : (error as Error).message)
    } finally {
      running = undefined
      sendButton.textContent = 'Send'
    }
  }
  const touch = () => {
    isTouched = true
    code.show()
  }
  const onkeydown = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) submit(event)
  }
  const form = h(
    'form',
    { novalidate: true, onsubmit: submit, onkeydown, oninput: touch, onclick: touch },
    paramsControl && h('fieldset', h('legend', 'Path'), paramsControl.element),
    target?.element,
    field.element,
    credentials.element,
    h(
      'div.tools',
      sendButton,
      api.isAsync && jobButton,
      ...(live?.buttons ?? []),
      h('span.dim.keys', 'Ctrl + Enter'),
    ),
  )

  const load = (example: Example) =>
    example.load(credentials.headers()).catch((error: Error) => {
      fail(error.message)
      return undefined
    })
  const use = async (example: Example, isLate = () => false) => {
    const content = await load(example)
    if (content === undefined || isLate()) return
    // A file may be of text.
    if (!field.write(content)) field.write({ ...content, data: new Blob([content.data]) })
    code.show()
  }
  const examples = examplesOf(operation, base)
  const cards = examples.map((example) => {
    const { name, type, content } = example
    const text = typeof content?.data === 'string' && onOneLine(content.data)
    const look = h('span.thumb', text || kindText(api.input))
    if (/^(image|multipart)\//.test(type))
      void load(example).then((loaded) => loaded && showPicture(look, loaded))
    return h('button', { type: 'button', onclick: () => use(example) }, look, h('span', name))
  })
  const gallery = h(
    'section',
    { 'aria-label': 'examples', hidden: cards.length === 0 },
    h('p.group', 'Examples'),
    h('div.gallery', ...cards),
  )
  const card = (title: string, kind: string, content: HTMLElement) =>
    h(
      'section.card',
      { 'aria-label': title },
      h('div.card-head', h('h3', title), h('span.dim', kind)),
      content,
    )
  const path = base.replace(location.origin, '') + api.path
  const models = chatModelsOf(api)
  const leave = () => {
    running?.abort()
    live?.leave()
  }
  const view = h(
    'article',
    { onleave: leave },
    h('h2', { tabindex: '-1' }, api.name),
    h('p.route', methodBadge(api), ' ', h('code', path)),
    markdownView(api.doc ?? ''),
    gallery,
    models.length > 0 && chatView(models, base, credentials),
    h(
      'div.panes',
      card('Input', kindText(api.input), form),
      card('Answer', kindText(api.output, true), answer),
    ),
    code.element,
    reference(api, operation, document),
  )
  if (examples.length > 0) void use(examples[0], () => isTouched)
  if (job !== undefined) {
    isJob = true
    const place = { api, base, headers: credentials.headers() }
    void run((signal, started) => showJob(answer, job, { ...place, signal, started }))
  }
  return view
}

/** Shows the call as code, in the language that the reader chooses. */
function codePanel(languages: readonly Language[], write: (language: Language) => string) {
  const code = h('pre', { tabindex: '0', 'aria-label': 'the call as code' })
  let [language] = languages
  const show = () => {
    try {
      code.textContent = write(language)
    } catch (error) {
      code.textContent = (error as Error).message
    }
  }
  const copied = h('span.dim', { role: 'status' })
  const copy = async () => {
    await navigator.clipboard?.writeText(code.textContent ?? '')
    copied.textContent = 'copied'
  }
  const choose = choice('language', languages, (chosen) => {
    language = languages[chosen]
    show()
  })
  const tools = h('div.tools', choose, button('Copy', copy), copied)
  const element = fold('This call in code', tools, code)
  element.classList.add('code-panel')
  element.open = true
  return { element, show }
}

/** @returns the models that chat, where the API is the chat of OpenAI. */
function chatModelsOf({ group, method, path, input }: ListedApi): readonly string[] {
  if (group !== 'OpenAI' || method !== 'POST' || path !== '/v1/chat/completions') return []
  const model = membersIn(input.schema ?? {}).find(({ name }) => name === 'model')
  return (Object(model?.schema).enum as readonly string[] | undefined) ?? []
}

/** @returns the control of the parameters of a path; undefined for a path without. */
function paramsOf(
  { path }: ApiInfo,
  { parameters = [] }: Operation,
  document: ServiceDocument,
): Control | undefined {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
  if (names.length === 0) return undefined
  const known = new Map(
    parameters.filter((each) => each.in === 'path').map((each) => [each.name, each]),
  )
  const schemaOf = (name: string) => {
    const { schema = { type: 'string' }, description } = known.get(name) ?? {}
    return [name, { ...schema, description }]
  }
  const schema = {
    type: 'object',
    properties: Object.fromEntries(names.map(schemaOf)),
    required: names,
  }
  // A text of no rules stays empty: an id that nobody has is no sample.
  const value = Object(startOf(schema, document)) as Record<string, unknown>
  for (const name of names) if (value[name] === 'text') value[name] = ''
  return unnamedControl('', schema, value, document)
}

/** Shows the picture of an example, the first one of a form. */
async function showPicture(look: HTMLElement, content: Content): Promise<void> {
  const all = [content, ...(content.parts ?? []).map(([, part]) => part)]
  const picture = all.find(({ type }) => type?.startsWith('image/'))?.data
  const image = picture instanceof Blob && (await mediaView(picture))?.querySelector('img')
  if (image) look.replaceChildren(image)
}
