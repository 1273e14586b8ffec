"""LitServe's server of its own benchmark of streams: 10,000 pieces as fast as it can. Arguments: the port."""

import sys

import litserve


class Stream(litserve.LitAPI):
    def setup(self, device):
        pass

    def decode_request(self, request):
        return request["input"]

    def predict(self, _):
        yield from range(10_000)

    def encode_response(self, outputs):
        for output in outputs:
            yield {"output": output}


if __name__ == "__main__":
    litserve.LitServer(Stream(), stream=True).run(port=int(sys.argv[1]), generate_client_file=False)
