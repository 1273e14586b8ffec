"""Scores of texts by an ONNX model of one thread: what BentoML and Triton compute for `bench/batching-peers.ts`."""

import os

import numpy as np
import onnxruntime


class Texts:
    def __init__(self):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(
            os.environ["BENCH_MODEL"], options, providers=["CPUExecutionProvider"]
        )

    def scores(self, texts):
        """A row for each list of tokens, all padded to the longest."""
        padded = np.zeros((len(texts), max(map(len, texts))), np.int32)
        for row, text in zip(padded, texts, strict=True):
            row[: len(text)] = text
        return self.session.run(["scores"], {"text": padded})[0]
