import { classOfNode } from '../core/absent.web.ts'

export const BinaryFile = classOfNode('BinaryFile')
export const RasterImage = classOfNode('RasterImage')
