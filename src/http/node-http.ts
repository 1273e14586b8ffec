/** Loads node:http by `require`: an import reads its export `WebSocket`, which loads undici. @module */
import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)

/** The module node:http. */
export const http: typeof import('node:http') = require('node:http')
/** The module node:https. */
export const https: typeof import('node:https') = require('node:https')
