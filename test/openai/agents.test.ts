/**
 * Requests of agents as they came from Codex and aider, which asked `examples/openai` by their settings for servers of
 * others. Long texts and lists of tools are cut.
 */
import { expect, it, onTestFinished } from 'vitest'
import svc from '../../examples/openai/service.ts'
import { serve } from '../../src/index.ts'
import recorded from '../fixtures/openai/agents.json' with { type: 'json' }

it('are answered by calls and texts', async () => {
  const listener = await serve(svc, { port: 0, host: '127.0.0.1', logLevel: 'fatal' })
  onTestFinished(() => listener.close())
  const answers: string[] = []
  for (const { path, requests } of Object.values(recorded))
    for (const request of requests) {
      const answer = await fetch(`http://127.0.0.1:${listener.port}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(request),
      })
      expect([path, answer.status]).toEqual([path, 200])
      answers.push(await answer.text())
    }
  const [called, told, said] = answers
  expect(called).toContain('"type":"function_call"')
  expect(called).toContain('"name":"exec_command"')
  expect(called).toContain('event: response.completed')
  // What only other servers run is no tool of the model.
  expect(called).not.toContain('web_search')
  expect(called).not.toContain('multi_agent_v1')
  expect(told).toContain('The tool says:')
  expect(said).toContain('"content":"I"')
  expect(said).toContain('[DONE]')
})
