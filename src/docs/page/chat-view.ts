import type { Credentials } from './credentials.ts'
import { button, failure, h } from './dom.ts'
import { eventsOf } from './exchange.ts'

interface Message {
  readonly role: 'user' | 'assistant'
  readonly content: string
}

/** @returns a chat with models of the service at `base`. */
export function chatView(
  models: readonly string[],
  base: string,
  credentials: Credentials,
): HTMLElement {
  const messages: Message[] = []
  const list = h('div.answers', { role: 'log', tabindex: '0', 'aria-label': 'messages' })
  const model = h('select', { 'aria-label': 'model' }, ...models.map((name) => h('option', name)))
  const text = h('textarea', { rows: 3, 'aria-label': 'message' })
  const say = (role: string, content: string) =>
    list.appendChild(h('p', { class: `message ${role}` }, content))
  const fail = (error: Error) => list.append(failure(error.message))
  const answer = async () => {
    if (text.value.trim() === '') return
    messages.push({ role: 'user', content: text.value })
    say('user', text.value)
    text.value = ''
    const events = await eventsOf(`${base}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...credentials.headers() },
      body: JSON.stringify({ model: model.value, messages, stream: true }),
    })
    const view = say('assistant', '')
    for await (const { data } of events) {
      if (data === '[DONE]') break
      view.append(JSON.parse(data).choices?.[0]?.delta?.content ?? '')
      list.scrollTop = list.scrollHeight
    }
    messages.push({ role: 'assistant', content: view.textContent ?? '' })
  }
  const send = h('button.send', 'Say')
  const submit = async (event: Event) => {
    event.preventDefault()
    send.disabled = true
    await answer().catch(fail)
    send.disabled = false
  }
  const clear = button('New chat', () => {
    messages.length = 0
    list.replaceChildren()
  })
  return h(
    'form.card.chat',
    { onsubmit: submit, 'aria-label': 'chat' },
    h('div.card-head', h('h3', 'Chat'), model),
    list,
    text,
    h('div.tools', send, clear),
  )
}
