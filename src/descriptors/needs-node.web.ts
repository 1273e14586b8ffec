import { classOfNode, functionOfNode } from '../core/absent.web.ts'

export const File = classOfNode('io.File')
export const Image = classOfNode('io.Image')
export const Multipart = classOfNode('io.Multipart')
export const PandasDataFrame = classOfNode('io.PandasDataFrame')
export const PandasSeries = classOfNode('io.PandasSeries')
export const columnFromNDArray = functionOfNode('io.columnFromNDArray')
export const columnToNDArray = functionOfNode('io.columnToNDArray')
export const labels = functionOfNode('io.labels')
export const withLabels = functionOfNode('io.withLabels')
