/** The model of an .onnx file. @module */
export { load } from 'serving/onnx'
