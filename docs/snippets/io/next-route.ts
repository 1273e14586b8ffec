// app/scale/route.ts of Next
import { fetchHandler } from 'serving/io'
import { double, rows } from './scale.ts'

export const POST = fetchHandler({ input: rows, output: rows }, double)
