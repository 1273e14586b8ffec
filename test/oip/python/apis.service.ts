/** The models of side_by_side.py. */
import { modelService } from '../service.ts'

export default modelService()
