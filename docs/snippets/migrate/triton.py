import numpy as np
import tritonclient.http as triton
from PIL import Image

picture = Image.open("examples/shapes/held-out/star-123.png").convert("RGB").resize((32, 32), Image.BILINEAR)
pixels = np.asarray(picture, np.float32).transpose(2, 0, 1)[None] / 255
given = triton.InferInput("pixels", pixels.shape, "FP32")
given.set_data_from_numpy(pixels)
answer = triton.InferenceServerClient("localhost:8000").infer("shapes", [given])
labels = ["circle", "cross", "square", "star", "triangle"]
print(labels[answer.as_numpy("probabilities").argmax()])  # star
