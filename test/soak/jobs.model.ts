/** The model of jobs.service.ts. @module */
import { setTimeout as wait } from 'node:timers/promises'
import type { ChatRequest } from 'serving/openai'

export function load() {
  return {
    /** Takes as long as its last message says, and answers it. */
    async chat({ messages }: ChatRequest) {
      const text = String(messages.at(-1)?.content)
      await wait(Number(text.split(' ')[1]))
      return text
    },
  }
}
