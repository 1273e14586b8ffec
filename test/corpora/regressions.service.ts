/** The service of the fuzzer, and what only the bodies that once broke something need. */
import { io } from 'serving'
import svc from '../fuzz/fuzz.service.ts'

svc.api(
  {
    input: new io.PandasDataFrame({ dtype: { c: 'category' } }),
    output: new io.PandasDataFrame(),
    name: 'category',
  },
  (frame) => frame,
)
svc.api(
  {
    input: new io.NumpyNdarray({ dtype: 'int64', enforceDtype: true }),
    output: new io.NumpyNdarray(),
  },
  function ndarray_int64(x) {
    return x
  },
)
svc.api({ input: new io.File(), output: new io.Text() }, function file_name({ name }) {
  return name ?? 'none'
})

export default svc
