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
import { objectControl } from './nested-control.ts'
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
import { languagesOf, onOneLine, snippet } from './snippets.ts'

/** What the page knows of the service. */
export interface Page {
  readonly base: string
  readonly document: ServiceDocument
  readonly credentials: Credentials
  /** The id of a job whose state is shown. */
  readonly job?: string | undefined
}

/** @returns an API for the page, and what to call when another one takes its place. */
export function apiView(api: ListedApi, { base, document, credentials, job }: Page) {
  const target = api.methods && openTarget(api, api.methods)
  const field = target?.field ?? fieldOf(api.input, 'the input', document)
  const called = () => target?.chosen() ?? api
  const operation = document.paths?.[api.path]?.[api.method.toLowerCase()] ?? {}
  const paramsControl = paramsOf(api, operation, document)
  const params = () => {
    const values = Object(paramsControl?.value()) as Record<string, unknown>
    return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)]))
  }
  const mark = (locations: readonly ErrorLocation[]) => {
    const names = Object.keys(params())
    const isOfPath = ({ path = '' }: ErrorLocation) => names.includes(path)
    paramsControl?.mark(locations.filter(isOfPath))
    field.mark(locations.filter((each) => !isOfPath(each)))
  }
  const examples = examplesOf(operation, base)
  const answer = h(
    'div.answer',
    { 'aria-live': 'polite' },
    h('p.empty', 'The answer appears here.'),
  )
  const code = h('pre', { tabindex: '0', 'aria-label': 'the call as code' })
  const sendButton = h('button.send', { type: 'submit' }, 'Send')
  const jobButton = h('button', { type: 'submit' }, 'Submit as a job')
  const languages = languagesOf(api)
  let [language] = languages
  let running: AbortController | undefined
  let isJob = false
  const live = api.isLive ? liveView(api, answer, { base, credentials, field }) : undefined
  // From then on the first example comes too late.
  let isTouched = false
  const schemes = schemesOf(operation, document)
  const keys = Object.fromEntries(
    schemes.slice(0, 1).map(({ header, prefix }) => [header, `${prefix}YOUR_KEY`]),
  )
  credentials.ask(schemes)

  const showCode = () => {
    try {
      code.textContent = snippet(language, called(), field.read(true), base, keys, params(), isJob)
    } catch (error) {
      code.textContent = (error as Error).message
    }
  }
  const touch = () => {
    isTouched = true
    showCode()
  }
  const fail = (message: string) => answer.append(failure(message))

  const submit = async (event: Event) => {
    event.preventDefault()
    if (live !== undefined) return live.send()
    if (running !== undefined) return running.abort()
    isJob = (event as SubmitEvent).submitter === jobButton
    showCode()
    await run(async (signal, started) => {
      const headers = credentials.headers()
      const asked = isJob ? { ...headers, prefer: 'respond-async' } : headers
      const response = await send(called(), field.read(), base, asked, signal, params())
      if (response.status === 401) credentials.askAny()
      if (!isJob || response.status !== 202) return showResponse(answer, response, api, started)
      const { id } = await infoOf(response)
      // A reload of the page finds the job again.
      history.replaceState(
        null,
        '',
        `#/${encodeURIComponent(api.name)}?job=${encodeURIComponent(id)}`,
      )
      jobId.value = id
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
      fail(signal.aborted ? stopped() : (error as Error).message)
    } finally {
      running = undefined
      sendButton.textContent = 'Send'
    }
  }
  const stopped = () => (isJob ? 'The job continues.' : 'Stopped.')
  const jobId = h('input', {
    type: 'text',
    size: '26',
    value: job ?? '',
    'aria-label': 'id of a job',
  })
  const watch = () => {
    if (running !== undefined || jobId.value.trim() === '') return
    isJob = true
    const headers = credentials.headers()
    void run((signal, started) =>
      showJob(answer, jobId.value.trim(), { api, base, headers, signal, started }),
    )
  }
  const jobs = h(
    'details.raw',
    h('summary', 'A job by its id'),
    h('div.tools', jobId, button('Show', watch)),
  )
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
    api.isAsync && jobs,
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
    showCode()
  }
  const cards = examples.map((example) => {
    const { name, type, content } = example
    const look = h(
      'span.thumb',
      typeof content?.data === 'string' ? onOneLine(content.data) : kindText(api.input),
    )
    if (/^(image|multipart)\//.test(type))
      void load(example).then((loaded) => loaded && showPicture(look, loaded))
    return h('button', { type: 'button', onclick: () => use(example) }, look, h('span', name))
  })
  const gallery = h(
    'section',
    { 'aria-label': 'examples' },
    h('p.group', 'Examples'),
    h('div.gallery', ...cards),
  )

  const copied = h('span.dim', { role: 'status' })
  const copy = async () => {
    await navigator.clipboard?.writeText(code.textContent ?? '')
    copied.textContent = 'copied'
  }
  const choose = choice('language', languages, (chosen) => {
    language = languages[chosen]
    showCode()
  })
  const codePanel = fold(
    'This call in code',
    h('div.tools', choose, button('Copy', copy), copied),
    code,
  )
  codePanel.classList.add('code-panel')
  codePanel.open = true

  const card = (title: string, kind: string, content: HTMLElement) =>
    h(
      'section.card',
      { 'aria-label': title },
      h('div.card-head', h('h3', title), h('span.dim', kind)),
      content,
    )
  const path = base.replace(location.origin, '') + api.path
  const models = chatModelsOf(api)
  const element = h(
    'article',
    h('h2', { tabindex: '-1' }, api.name),
    h('p.route', methodBadge(api), ' ', h('code', path)),
    markdownView(api.doc ?? ''),
    examples.length > 0 && gallery,
    models.length > 0 &&
      chatView({ url: `${base}/v1`, models, headers: () => credentials.headers() }),
    h(
      'div.panes',
      card('Input', kindText(api.input), form),
      card('Answer', kindText(api.output, true), answer),
    ),
    codePanel,
    reference(api, operation, document),
  )
  if (examples.length > 0) void use(examples[0], () => isTouched)
  if (job !== undefined) watch()
  const leave = () => {
    running?.abort()
    live?.leave()
  }
  return { element, leave }
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
  return objectControl({ name: '', label: '', schema, isRequired: true, value }, document)
}

/** Shows the picture of an example, the first one of a form. */
async function showPicture(look: HTMLElement, content: Content): Promise<void> {
  const all = [content, ...(content.parts ?? []).map(([, part]) => part)]
  const picture = all.find(({ type }) => type?.startsWith('image/'))?.data
  const image = picture instanceof Blob && (await mediaView(picture))?.querySelector('img')
  if (image) look.replaceChildren(image)
}
