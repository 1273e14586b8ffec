import { createClient } from 'serving/client'

const client = createClient<typeof import('./scaler.ts')>('http://localhost:3000')
const answer = await client.scale([[1, 2, 3, 4]])
console.log(answer) // { dtype: 'float32', shape: [ 1, 4 ], data: Float32Array(4) [ 2, 4, 6, 8 ] }
