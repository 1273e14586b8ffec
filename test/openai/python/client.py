"""Asks a server by the unmodified openai package, and prints what it got as JSON: client.py URL KEY"""

import json
import sys

import openai

url, key = sys.argv[1:]
client = openai.OpenAI(base_url=f"{url}/v1", api_key=key, max_retries=0)
messages = [{"role": "user", "content": "hello"}]
whole = client.chat.completions.create(model="said", messages=messages, stop="three")
stream = client.chat.completions.create(
    model="said", messages=messages, stream=True, stream_options={"include_usage": True}
)
chunks = list(stream)
text = client.completions.create(model="said", prompt="once", max_tokens=2)
vectors = client.embeddings.create(model="said", input=["counted", "b"])
late = []
try:
    for chunk in client.chat.completions.create(
        model="said", messages=messages, stream=True, extra_body={"say": ["ok", "fail"]}
    ):
        late.append(chunk.choices[0].delta.content)
except openai.APIError as error:
    late.append(error.code)


def refused(call):
    try:
        call()
    except openai.APIStatusError as error:
        return [type(error).__name__, error.code, error.param]


stranger = openai.OpenAI(base_url=f"{url}/v1", api_key="other", max_retries=0)
print(
    json.dumps(
        {
            "models": [model.id for model in client.models.list()],
            "model": client.models.retrieve("org/embedder").id,
            "whole": [whole.choices[0].message.content, whole.usage.total_tokens],
            "chunks": [chunk.choices[0].delta.content for chunk in chunks if chunk.choices],
            "usage": chunks[-1].usage.completion_tokens,
            "text": [text.choices[0].text, text.choices[0].finish_reason],
            "vectors": [item.embedding[0] for item in vectors.data],
            "late": late,
            "refused": [
                refused(lambda: client.chat.completions.create(model="said", messages=messages, n=2)),
                refused(lambda: client.chat.completions.create(model="other", messages=messages)),
                refused(lambda: stranger.models.list()),
            ],
        }
    )
)
