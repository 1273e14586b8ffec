import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { root, serveFile } from '../cli/process.ts'
import { canImport, python } from '../docs/python.ts'

const reference = `
import json, sys
sys.path.insert(0, sys.argv[1])
from model import Model
import numpy as np
model, rows = Model(), np.array(json.loads(sys.argv[2]))
print(json.dumps([model.classify(rows).tolist(), model.predict(rows).tolist()]))`

it.skipIf(!canImport('sklearn'))(
  'the sklearn example answers what scikit-learn does, also by the Open Inference Protocol (PYTHON \
names one with scikit-learn)',
  { timeout: 120_000 },
  async () => {
    const env = { SERVING_PYTHON: python }
    const { port } = await serveFile('examples/sklearn/service.ts', ['--workers', '2'], { env })
    const rows = [
      [5.1, 3.5, 1.4, 0.2],
      [6.7, 3.0, 5.2, 2.3],
      [5.9, 2.8, 4.3, 1.3],
    ]
    const folder = join(root, 'examples/sklearn')
    const expected = execFileSync(python, ['-c', reference, folder, JSON.stringify(rows)], {
      encoding: 'utf8',
    })
    const post = async (path: string, body: unknown) => {
      const headers = { 'content-type': 'application/json' }
      const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
      })
      expect(answer.status).toBe(200)
      return (await answer.json()) as { readonly outputs?: unknown }
    }
    const [classes, probabilities] = JSON.parse(expected)
    expect(await post('/classify', rows)).toEqual(classes)
    expect(await post('/probabilities', rows)).toEqual(probabilities)
    const inputs = [{ name: 'measurements', datatype: 'FP64', shape: [3, 4], data: rows.flat() }]
    const { outputs } = await post('/v2/models/iris/infer', { inputs })
    expect(outputs).toEqual([
      { name: 'probabilities', datatype: 'FP64', shape: [3, 3], data: probabilities.flat() },
    ])
  },
)
