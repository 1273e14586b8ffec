/**
 * The service of `stall.ts`: an API for each way in that a body could hold the event loop.
 * @module
 */
import { readFileSync } from 'node:fs'
import { io, NDArray, Service } from 'serving'
import { z } from 'zod'

const svc = new Service('stall')
const counted = { output: new io.JSON() }

/** The neighbour: a small array. */
svc.api({ input: new io.NumpyNdarray({ dtype: 'float64' }), output: new io.NumpyNdarray() }, function double(x) {
  return new NDArray(
    x.data.map((value) => value * 2),
    x.shape,
  )
})
svc.api({ ...counted, input: new io.JSON() }, function json() {
  return 1
})
svc.api({ ...counted, input: new io.JSON() }, function echo(value) {
  return value
})
svc.api({ ...counted, input: new io.JSON({ schema: z.array(z.string()) }) }, function strings() {
  return 1
})
const record = z.object({ a: z.number(), b: z.string() })
svc.api({ ...counted, input: new io.JSON({ schema: z.object({ rows: z.array(record) }) }) }, function records() {
  return 1
})
svc.api({ ...counted, input: new io.NumpyNdarray() }, function array() {
  return 1
})
svc.api({ ...counted, input: new io.PandasDataFrame() }, function frame() {
  return 1
})
svc.api({ ...counted, input: new io.PandasDataFrame({ orient: 'columns' }) }, function columns() {
  return 1
})
svc.api({ ...counted, input: new io.PandasSeries() }, function series() {
  return 1
})

const cpuMs = () => Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ', 1)[0]) / 1e6
let longest = 0
let last = cpuMs()
setInterval(() => {
  const now = cpuMs()
  longest = Math.max(longest, now - last)
  last = now
}, 2).unref()

/** The longest stretch of the event loop since the last call, in CPU time of its thread: others add nothing. */
svc.api({ ...counted, input: new io.JSON() }, function longest_turn() {
  const ms = longest
  longest = 0
  return ms
})

export default svc
