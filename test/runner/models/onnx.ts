export { load } from 'serving/onnx'
