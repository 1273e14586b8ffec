/** What files, pictures, frames and forms need: threads, the add-on, packages of Node. @module */
export { columnFromNDArray, columnToNDArray } from '../values/table/column-array.ts'
export { labels, withLabels } from '../values/table/polars/labels.ts'
export { File } from './file.ts'
export { Image } from './image.ts'
export { Multipart } from './multipart.ts'
export { PandasDataFrame } from './pandas-dataframe.ts'
export { PandasSeries } from './pandas-series.ts'
