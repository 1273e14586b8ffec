/** What is served: each svc.api is an endpoint. */
import { readFileSync } from 'node:fs'
import pl from 'nodejs-polars'
import { io, Service } from 'serving'

const svc = new Service('NAME')
// The model: a linear one. Put your own in its place.
const model = JSON.parse(readFileSync(new URL('./model.json', import.meta.url), 'utf8'))

// JSON, CSV, Parquet or Arrow becomes a DataFrame of Polars.
const houses = new io.PandasDataFrame({
  dtype: { area: 'float64', rooms: 'int64' },
  enforceDtype: true,
})

svc.api({ input: houses, output: new io.PandasDataFrame() }, function price(houses) {
  const area = pl.col('area').mul(pl.lit(model.area))
  const rooms = pl.col('rooms').mul(pl.lit(model.rooms))
  return houses.withColumns(area.add(rooms).add(pl.lit(model.base)).alias('price'))
})

export default svc
