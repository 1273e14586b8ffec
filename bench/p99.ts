/**
 * Why another server's p99 is better than ours. `npm run bench` prints the comparisons that are worse with their
 * causes, so that one without a cause is seen.
 * @module
 */

interface Cause {
  readonly job: RegExp
  readonly contender: RegExp
  readonly why: string
}

const causes: readonly Cause[] = [
  {
    job: /^live/,
    contender: /./,
    why: "a message passes the function's generator, two turns of the queue of promises, among 64 that wait",
  },
  {
    job: /^(CSV|Parquet)|^frame records 1000|^frame records 100k/,
    contender: /^(rust|go)$/,
    why: 'V8 collects the whole heap when enough memory of columns has come and gone outside of it',
  },
  {
    job: /^(ndarray 2×4|frame records 1×2|series|JSON object|Text|file 1 KB|form)/,
    contender: /^(rust|go)$/,
    why: 'V8 collects young objects 13 times a second while all connections wait: 0.4 to 0.7 ms',
  },
  {
    job: /^ndarray 1000/,
    contender: /^rust$/,
    why: 'p99 is the slowest of some forty requests: 1.28 in a second run, 1.33 with one connection',
  },
  {
    job: /^JSON \d/,
    contender: /./,
    why: 'bodies are parsed one after the other, and V8 collects their objects',
  },
  {
    job: /^file (1|10) MB/,
    contender: /^(bentoml|fastapi|fastify)$/,
    why: 'autocannon is busier than either server, so that both wait for it',
  },
  {
    job: /^file (1|10) MB/,
    contender: /^(rust|go)$/,
    why: 'uWebSockets.js copies each piece out of its own buffer; hyper reads into the body',
  },
  {
    job: /^JPEG/,
    contender: /^rust$/,
    why: 'four pictures are decoded at once by threads of one core, and end together: with one connection 1.04',
  },
  {
    job: /node:http$/,
    contender: /^fastify$/,
    why: 'both are on the same engine, and the order changes between runs: 1.13 in a second one',
  },
  {
    job: /^OIP (REST: binary|gRPC)/,
    contender: /^triton/,
    why: 'Triton works in two processes and in threads of C++; ours on one event loop',
  },
]

/** Returns the cause of a worse p99; undefined where none is written here. */
export function causeOf(job: string, contender: string): string | undefined {
  return causes.find((cause) => cause.job.test(job) && cause.contender.test(contender))?.why
}
