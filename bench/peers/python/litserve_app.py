"""LitServe doing those of the benchmark's jobs that are JSON in and JSON out: it reads no other bodies."""

import sys

import litserve as ls
import numpy as np


class Ndarray(ls.LitAPI):
    def setup(self, device):
        pass

    def decode_request(self, request):
        return np.asarray(request)

    def predict(self, x):
        return x

    def encode_response(self, output):
        return output.tolist()


class Json(ls.LitAPI):
    def setup(self, device):
        pass

    def predict(self, x):
        return x


if __name__ == "__main__":
    server = ls.LitServer([Ndarray(api_path="/ndarray"), Json(api_path="/json")], accelerator="cpu")
    server.run(
        host="127.0.0.1", port=int(sys.argv[1]), log_level="warning", access_log=False, generate_client_file=False
    )
