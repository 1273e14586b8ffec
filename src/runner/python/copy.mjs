// Copies the programs in Python to where the compiled code looks for them.
import { copyFile, mkdir, readdir } from 'node:fs/promises'

const from = new URL('./', import.meta.url)
const to = new URL('../../../dist/runner/python/', import.meta.url)
await mkdir(to, { recursive: true })
for (const file of await readdir(from))
  if (file.endsWith('.py')) await copyFile(new URL(file, from), new URL(file, to))
