/** Writes the JSON schema of configuration files beside this file: a step of `npm run build`. @module */
import { writeFileSync } from 'node:fs'
import { schemaText } from './config-schema.ts'

writeFileSync(new URL('./schema.json', import.meta.url), schemaText())
