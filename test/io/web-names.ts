/** What serving/io exports without Node, and what making some of it throws. */
import * as serving from 'serving/io'

const { io, nodeHandler } = serving

export const names = JSON.stringify([Object.keys(serving).toSorted(), Object.keys(io).toSorted()])

const attempts = [
  () => new io.Image(),
  () => new io.PandasDataFrame(),
  () => nodeHandler({} as never, {} as never),
]

export const refusals = JSON.stringify(
  attempts.map((attempt) => {
    try {
      return String(attempt())
    } catch (error) {
      return String(error)
    }
  }),
)
