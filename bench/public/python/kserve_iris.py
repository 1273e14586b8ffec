"""KServe's server of a scikit-learn model over its V1 protocol. Arguments: port and the folder of the model."""

import sys

import joblib
import kserve


class Iris(kserve.Model):
    def __init__(self, name, file):
        super().__init__(name)
        self.model = joblib.load(file)
        self.ready = True

    def predict(self, payload, headers=None):
        return {"predictions": self.model.predict(payload["instances"]).tolist()}


if __name__ == "__main__":
    port, folder = sys.argv[1:3]
    server = kserve.ModelServer(http_port=int(port), workers=1, enable_grpc=False, access_log_format=None)
    server.start([Iris("sklearn-iris", f"{folder}/model.joblib")])
