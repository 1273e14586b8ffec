/** The model: tells Iris flowers apart by the nearest mean of Fisher's measurements. Loaded once in each thread. */
import { readFileSync } from 'node:fs'
import type { NDArray } from 'serving'

interface Weights {
  readonly labels: readonly string[]
  readonly centroids: readonly (readonly number[])[]
}

export function load() {
  const text = readFileSync(new URL('./model.json', import.meta.url), 'utf8')
  const { labels, centroids }: Weights = JSON.parse(text)

  function distance(row: Float32Array, centroid: readonly number[]): number {
    return centroid.reduce((sum, value, i) => sum + (row[i] - value) ** 2, 0)
  }

  return {
    /** Returns the label of each row. */
    classify(x: NDArray<'float32'>): string[] {
      return Array.from({ length: x.shape[0] }, (_, i) => {
        const row = x.data.subarray(i * 4, i * 4 + 4)
        const distances = centroids.map((centroid) => distance(row, centroid))
        return labels[distances.indexOf(Math.min(...distances))]
      })
    },
  }
}
