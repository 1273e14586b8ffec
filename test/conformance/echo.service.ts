/** Gives bodies of others' suites back, as the descriptors read them. */
import { io, Service } from 'serving'

const svc = new Service('conformance')
const frame = new io.PandasDataFrame({ defaultFormat: 'parquet' })
const texts = new io.PandasDataFrame({ dtype: false })

svc.api({ input: new io.JSON(), output: new io.JSON() }, function json(value) {
  return value
})
svc.api({ input: frame, output: frame }, function table(rows) {
  return rows
})
svc.api({ input: texts, output: texts }, function csv(rows) {
  return rows
})

export default svc
