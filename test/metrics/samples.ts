/** Reads the text of metrics. */

/** The value of each series, by its name with its labels as they are written. */
export function samplesOf(text: string): Map<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(
    lines.map((line) => {
      const space = line.lastIndexOf(' ')
      return [line.slice(0, space), Number(line.slice(space + 1))]
    }),
  )
}

/** Returns the sum of all series of a metric, of those only that have all labels. */
export function sumOf(
  samples: ReadonlyMap<string, number>,
  name: string,
  ...labels: string[]
): number {
  let sum = 0
  for (const [series, value] of samples) {
    if (series.split('{')[0] === name && labels.every((label) => series.includes(label)))
      sum += value
  }
  return sum
}
