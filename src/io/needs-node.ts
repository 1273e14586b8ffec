/** Values that need what only Node has: files, and the add-on for pictures. @module */
export { BinaryFile } from '../core/file/binary-file.ts'
export { RasterImage } from '../values/image/raster.ts'
