/** The program of a runner's child processes. @module */

import { ModelHost } from './model-host.ts'
import { serveProcess } from './process-workers.ts'

const host = new ModelHost('process')

serveProcess(async (message, channel) => (await host.handle(message, channel)).reply)
