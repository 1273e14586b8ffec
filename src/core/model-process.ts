/**
 * The program of a runner's child processes.
 * @module
 */
import { serveProcess } from '../bindings/child-processes.ts'
import { ModelHost } from './model-host.ts'

const host = new ModelHost(false)

serveProcess(async (message, channel) => (await host.handle(message, channel)).reply)
