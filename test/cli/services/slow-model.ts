/** A model that is loaded when there is a file. */
import { existsSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'

while (!existsSync(process.env.START_FILE ?? '')) await wait(5)

export const load = () => ({ echo: (text: string) => text })
