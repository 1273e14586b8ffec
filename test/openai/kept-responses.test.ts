import { isBuiltin } from 'node:module'
import { BadRequestError, NotFoundError } from 'openai'
import type { Response, ResponseStreamEvent } from 'openai/resources/responses/responses'
import { describe, expect, it } from 'vitest'
import { eventsOfText, rejected } from './harness.ts'
import { input, startKept } from './kept-harness.ts'
import { faultsOf } from './open-responses.ts'

type Extra = Record<string, unknown>

async function all(stream: unknown): Promise<ResponseStreamEvent[]> {
  const events: ResponseStreamEvent[] = []
  for await (const event of stream as AsyncIterable<ResponseStreamEvent>) events.push(event)
  for (const event of events) expect(faultsOf('event', event)).toEqual([])
  return events
}

const typesOf = (events: readonly ResponseStreamEvent[]) => events.map(({ type }) => type)
/** Without what clients add. */
const bare = (response: unknown) => {
  const { output_text: _, _request_id: __, ...rest } = JSON.parse(JSON.stringify(response))
  return rest
}

describe.skipIf(!isBuiltin('node:sqlite'))('kept responses', () => {
  it('keeps what was answered, for its caller alone', async () => {
    const { client, clientOf, create } = await startKept()
    const response = await create()
    expect(response).toMatchObject({ store: true })
    expect(bare(await client.responses.retrieve(response.id))).toEqual(bare(response))
    const bob = clientOf('bob').responses
    for (const refused of [
      () => bob.retrieve(response.id),
      () => bob.cancel(response.id),
      () => bob.delete(response.id),
      () => bob.inputItems.list(response.id),
      () => bob.create({ model: 'said', input, previous_response_id: response.id }),
      () => client.responses.retrieve(`resp_${'A'.repeat(22)}`),
    ])
      expect(await rejected(refused() as Promise<unknown>)).toBeInstanceOf(NotFoundError)
    const { data } = await client.responses.inputItems.list(response.id)
    expect(data).toMatchObject([{ type: 'message', role: 'user', content: [{ text: input }] }])
    await client.responses.delete(response.id)
    expect(await rejected(client.responses.retrieve(response.id))).toBeInstanceOf(NotFoundError)
  })

  it('keeps what was answered while a full queue waits for the background', async () => {
    const { client, create } = await startKept({ maxQueued: 1 })
    const running = await create({ background: true, say: ['forever'] })
    await expect
      .poll(async () => (await client.responses.retrieve(running.id)).status)
      .toBe('in_progress')
    await create({ background: true })
    expect(await rejected(create({ background: true }))).toMatchObject({ status: 503 })
    for (let i = 0; i < 3; i++) {
      const { id } = await create()
      expect((await client.responses.retrieve(id)).id).toBe(id)
    }
    await client.responses.cancel(running.id)
  })

  it('keeps nothing with store: false', async () => {
    const { client, create } = await startKept()
    const response = await create({ store: false })
    expect(response).toMatchObject({ store: false })
    expect(await rejected(client.responses.retrieve(response.id))).toBeInstanceOf(NotFoundError)
  })

  it('goes on behind a previous response, streamed or not', async () => {
    const { runner, create } = await startKept()
    const say = [{ tool_call: { name: 'look', arguments: '{}' } }]
    const tools = [{ type: 'function', name: 'look' }]
    const first = await create({ instructions: 'Be short.', tools, say })
    const [call] = first.output as never as [{ call_id: string }]
    const events = await all(
      await create({
        previous_response_id: first.id,
        input: [{ type: 'function_call_output', call_id: call.call_id, output: 'sun' }],
        stream: true,
      }),
    )
    const { response: second } = events.at(-1) as { response: Response }
    expect(second.previous_response_id).toBe(first.id)
    await create({ previous_response_id: second.id, input: 'And my name?' })
    const { requests } = await runner.seen()
    const called = {
      id: call.call_id,
      type: 'function',
      function: { name: 'look', arguments: '{}' },
    }
    expect((requests.at(-1) as Extra).messages).toEqual([
      { role: 'user', content: input },
      { role: 'assistant', content: '', tool_calls: [called] },
      { role: 'tool', tool_call_id: call.call_id, content: 'sun' },
      { role: 'assistant', content: 'one two three' },
      { role: 'user', content: 'And my name?' },
    ])
  })

  it('takes references to items of kept responses', async () => {
    const { runner, create } = await startKept()
    const first = await create()
    const second = await create({
      input: [
        { role: 'user', content: input },
        { type: 'item_reference', id: first.output[0].id },
        { role: 'user', content: 'And?' },
      ],
    })
    await create({
      input: [
        { type: 'item_reference', id: first.output[0].id },
        { type: 'item_reference', id: second.output[0].id },
      ],
    })
    const { requests } = await runner.seen()
    const answer = { role: 'assistant', content: 'one two three' }
    expect(requests.slice(-2).map((each) => (each as Extra).messages)).toEqual([
      [{ role: 'user', content: input }, answer, { role: 'user', content: 'And?' }],
      [answer, answer],
    ])
    const unknown = { type: 'item_reference', id: `msg_${'A'.repeat(22)}_0` }
    expect(await rejected(create({ input: [unknown] }))).toMatchObject({ status: 404 })
  })

  it('runs in the background', async () => {
    const { client, create, ended } = await startKept()
    const begun = await create({ background: true, metadata: { a: 'b' } })
    expect(begun.status).toMatch(/queued|in_progress|completed/)
    expect(faultsOf('response', bare(begun))).toEqual([])
    await ended(begun.id)
    const response = await client.responses.retrieve(begun.id)
    expect(faultsOf('response', bare(response))).toEqual([])
    expect(response).toMatchObject({
      id: begun.id,
      status: 'completed',
      background: true,
      metadata: { a: 'b' },
      output_text: 'one two three',
    })
    const next = await create({ previous_response_id: begun.id, input: 'And?' })
    expect(next.status).toBe('completed')
    expect(await rejected(client.responses.retrieve(begun.id, { stream: true }))).toMatchObject({
      status: 400,
    })
  })

  it('runs once in the background for an idempotency key', async () => {
    const { client } = await startKept()
    const create = (text: string) =>
      client.responses.create(
        { model: 'said', input: text, background: true },
        { headers: { 'idempotency-key': 'once' } },
      )
    const { id } = await create(input)
    expect((await create(input)).id).toBe(id)
    expect(await rejected(create('And mine?'))).toMatchObject({ status: 422 })
  })

  it('refuses in front of the background what the model would not get', async () => {
    const { create } = await startKept()
    for (const extra of [
      { temperature: 3 },
      { store: false },
      { text: { format: { type: 'json_object' } } },
    ])
      expect(await rejected(create({ background: true, ...extra }))).toBeInstanceOf(BadRequestError)
    expect(await rejected(create({ background: true, model: 'x' }))).toBeInstanceOf(NotFoundError)
  })

  it('streams from the background, and goes on behind an event', async () => {
    const { client, create } = await startKept()
    const events = await all(await create({ background: true, stream: true }))
    expect(typesOf(events)).toEqual(eventsOfText)
    const [created] = events as unknown as [{ response: Response }]
    const { id } = created.response
    expect(events.map((each) => each.sequence_number)).toEqual(events.map((_, i) => i))
    expect(await all(await client.responses.retrieve(id, { stream: true }))).toEqual(events)
    const rest = await client.responses.retrieve(id, { stream: true, starting_after: 4 })
    expect(await all(rest)).toEqual(events.slice(5))
    const helper = client.responses.stream({ response_id: id, starting_after: 8 } as never)
    const seen: unknown[] = []
    helper.on('event', (event) => seen.push(event))
    expect((await helper.finalResponse()).output_text).toBe('one two three')
    expect(seen).toEqual(events.slice(9))
  })

  it('leaves a response of the background to itself if its reader leaves', async () => {
    const { client, create, ended } = await startKept()
    const stream = (await create({ background: true, stream: true })) as never
    let id = ''
    for await (const event of stream as AsyncIterable<ResponseStreamEvent>) {
      id = (event as { response: Response }).response.id
      break
    }
    await ended(id)
    expect((await client.responses.retrieve(id)).output_text).toBe('one two three')
  })

  it('cancels, and deletes what runs', async () => {
    const { runner, client, create } = await startKept({ concurrency: 2 })
    const say = ['forever']
    const first = await create({ background: true, say })
    const second = await create({ background: true, stream: false, say })
    await expect.poll(async () => (await runner.seen()).requests.length).toBe(2)
    expect(await client.responses.cancel(first.id)).toMatchObject({
      id: first.id,
      status: 'cancelled',
    })
    expect(await client.responses.cancel(first.id)).toMatchObject({ status: 'cancelled' })
    await client.responses.delete(second.id)
    expect(await rejected(client.responses.retrieve(second.id))).toBeInstanceOf(NotFoundError)
    await expect.poll(async () => (await runner.seen()).ended).toBe(2)
    const whole = await create()
    expect(await rejected(client.responses.cancel(whole.id))).toBeInstanceOf(BadRequestError)
    const refused = create({ previous_response_id: first.id })
    expect(await rejected(refused)).toMatchObject({ status: 400, param: 'previous_response_id' })
  })

  it('tells why a response of the background failed, also as the last event', async () => {
    const { client, create, ended } = await startKept({ retries: 0 })
    const say = ['one ', 'fail']
    const begun = await create({ background: true, say })
    await ended(begun.id)
    const response = await client.responses.retrieve(begun.id)
    expect(faultsOf('response', bare(response))).toEqual([])
    expect(response).toMatchObject({ status: 'failed', error: { code: 'function_error' } })
    expect(JSON.stringify(response)).not.toContain('a secret')
    const events = await all(await create({ background: true, stream: true, say }))
    expect(events.at(-1)).toMatchObject({ type: 'response.failed', response: { status: 'failed' } })
  })

  it('begins a stream again that is tried again', async () => {
    const { create } = await startKept({ retries: 1 })
    const events = await all(
      await create({ background: true, stream: true, say: ['one ', 'fail'] }),
    )
    const types = typesOf(events)
    expect(types.filter((type) => type === 'response.created')).toHaveLength(2)
    expect(types.filter((type) => type === 'response.failed')).toHaveLength(1)
    expect(events.map((each) => each.sequence_number)).toEqual(events.map((_, i) => i))
  })

  it('keeps responses over a restart', async () => {
    const first = await startKept()
    const response = await first.create()
    await first.listener.close()
    const { client } = await startKept(true, first.file)
    expect(bare(await client.responses.retrieve(response.id))).toEqual(bare(response))
  })

  it('lists input items by pages', async () => {
    const { client, create } = await startKept()
    const texts = ['a', 'b', 'c']
    const { id } = await create({ input: texts.map((content) => ({ role: 'user', content })) })
    const pages = client.responses.inputItems.list(id, { limit: 2, order: 'asc' })
    const seen: string[] = []
    for await (const item of pages)
      seen.push((item as never as { content: { text: string }[] }).content[0].text)
    expect(seen).toEqual(texts)
    const { data } = await client.responses.inputItems.list(id, { limit: 1 })
    expect(data).toMatchObject([{ content: [{ text: 'c' }] }])
  })
})
