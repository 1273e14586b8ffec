/**
 * A table model in Python: tables come and go as JSON, CSV, Parquet or Arrow.
 * @module
 */
import type { DataFrame } from 'nodejs-polars'
import { io, Runner, Service } from 'serving'

interface Model {
  classify(wines: DataFrame): DataFrame
}

const model = new Runner<Model>('wines', {
  python: new URL('./model.py', import.meta.url),
  packages: ['scikit-learn==1.5.2', 'pandas==2.2.3', 'pyarrow==18.1.0'],
  methods: { classify: {} },
})
const svc = new Service('wines', {
  doc: 'Tells which of three growers made a wine.',
  runners: [model],
})
const dtype = {
  alcohol: 'float64',
  flavanoids: 'float64',
  color_intensity: 'float64',
  proline: 'float64',
} as const

svc.api(
  {
    input: new io.PandasDataFrame({ dtype, enforceDtype: true }),
    output: new io.PandasDataFrame(),
    doc: 'Rows of wines get their grower and its probability.',
  },
  async function classify(wines, ctx) {
    return await model.classify(wines, ctx)
  },
)

export default svc
