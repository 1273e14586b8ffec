import litserve as ls
import numpy as np


class Scaler(ls.LitAPI):
    def setup(self, device):
        self.factor = 2

    def decode_request(self, request):
        return np.array(request, "float32")

    def predict(self, x):
        return x * self.factor

    def encode_response(self, x):
        return x.tolist()


if __name__ == "__main__":
    ls.LitServer(Scaler(api_path="/scale")).run(port=3000)
