import { readFileSync } from 'node:fs'
import { createClient } from 'serving/client'

const client = createClient<typeof import('./label.ts')>('http://localhost:3000')
const picture = new Blob([readFileSync('star.png')], { type: 'image/png' })
const { label, probability } = await client.label(picture)
console.log(label, probability > 0.9) // star true
