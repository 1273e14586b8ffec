/**
 * MLServer's benchmark by k6: 300 virtual users ask for one row of iris. Variables: PROTOCOL, ADDRESS, SECONDS, PROTO
 * (the folder of the protocol's file).
 */

import http from 'k6/http'
import { Counter, Trend } from 'k6/metrics'
import grpc from 'k6/net/grpc'

const isGrpc = __ENV.PROTOCOL === 'grpc'
const tensor = { name: 'input-0', shape: [1, 4], datatype: 'FP32' }
const body = JSON.stringify({ inputs: [{ ...tensor, data: [1, 2, 3, 4] }] })
const message = {
  model_name: 'iris',
  inputs: [{ ...tensor, contents: { fp32_contents: [1, 2, 3, 4] } }],
}
const client = new grpc.Client()
if (isGrpc) client.load([__ENV.PROTO], 'grpc_service.proto')

const answered = new Counter('answered')
const failed = new Counter('failed')
const took = new Trend('took')
let isConnected = false

export const options = {
  scenarios: { iris: { executor: 'constant-vus', vus: 300, duration: `${__ENV.SECONDS}s` } },
  summaryTrendStats: ['avg', 'med', 'p(99)'],
}

function askByGrpc() {
  if (!isConnected) client.connect(__ENV.ADDRESS, { plaintext: true })
  isConnected = true
  return (
    client.invoke('inference.GRPCInferenceService/ModelInfer', message).status === grpc.StatusOK
  )
}

function askByRest() {
  const headers = { 'Content-Type': 'application/json' }
  return http.post(`http://${__ENV.ADDRESS}/v2/models/iris/infer`, body, { headers }).status === 200
}

// biome-ignore lint/style/noDefaultExport: k6 calls it.
export default function () {
  const start = Date.now()
  const isRight = isGrpc ? askByGrpc() : askByRest()
  took.add(Date.now() - start)
  if (isRight) answered.add(1)
  else failed.add(1)
}

export function handleSummary({ metrics }) {
  const { values } = metrics.took
  const counts = {
    answered: metrics.answered?.values.count ?? 0,
    failed: metrics.failed?.values.count ?? 0,
  }
  return {
    stdout: JSON.stringify({ ...counts, perSecond: metrics.answered?.values.rate ?? 0, ...values }),
  }
}
