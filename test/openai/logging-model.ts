/** A model that writes the begin and the end of each call to the file CALLS_LOG. @module */
import { appendFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import type { ChatRequest } from '../../src/protocols/openai/index.ts'

export function load() {
  const write = (line: string) => appendFileSync(process.env.CALLS_LOG as string, `${line}\n`)
  return {
    async chat({ messages }: ChatRequest) {
      const text = messages.at(-1)?.content
      write(`begin ${text}`)
      await wait(50)
      write(`end ${text}`)
      return `said ${text}`
    },
  }
}
