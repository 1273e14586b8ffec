"""Asks the example by one client of Python, and prints what it got as JSON: clients.py URL CLIENT"""

import json
import sys

url, client = sys.argv[1:]
base = f"{url}/v1"
question = "What is the weather in Paris?"
person = "Ann is 9 years old"
png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC"
parameters = {"type": "object", "properties": {"city": {"type": "string"}}}
tools = [{"type": "function", "function": {"name": "get_weather", "parameters": parameters}}]
messages = [{"role": "user", "content": question}]
parts = [
    {"type": "text", "text": "What is here?"},
    {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{png}"}},
]


def by_openai():
    import openai
    from pydantic import BaseModel

    class Person(BaseModel):
        name: str
        age: int

    asked = openai.OpenAI(base_url=base, api_key="none", max_retries=0)
    chat = asked.chat.completions
    whole = chat.create(model="tiny", messages=messages, seed=1).choices[0].message.content
    stream = chat.create(model="tiny", messages=messages, seed=1, stream=True)
    streamed = "".join(chunk.choices[0].delta.content or "" for chunk in stream)
    called = chat.create(model="rules", messages=messages, tools=tools).choices[0].message.tool_calls[0]
    with chat.stream(model="rules", messages=messages, tools=tools) as helped:
        final = helped.get_final_completion().choices[0].message.tool_calls[0]
    parsed = chat.parse(model="rules", messages=[{"role": "user", "content": person}], response_format=Person)
    seen = chat.create(model="rules", messages=[{"role": "user", "content": parts}])
    function = {"type": "function", "name": "get_weather", "parameters": parameters, "strict": False}
    flat = asked.responses.create(model="rules", input=question, tools=[function]).output[0]
    filled = asked.responses.parse(model="rules", input=person, text_format=Person)
    prompts = asked.completions.create(model="tiny", prompt=["The", "A"], max_tokens=2)
    return {
        "text": whole == streamed != "",
        "tools": [called.function.name, called.function.arguments],
        "streamedTools": [final.function.name, final.function.arguments],
        "structured": parsed.choices[0].message.parsed.model_dump(),
        "parts": seen.choices[0].message.content,
        "prompts": len(prompts.choices),
        "n": len(chat.create(model="tiny", messages=messages, n=2).choices),
        "embeddings": len(asked.embeddings.create(model="tiny", input=["a", "b"]).data),
        "tokens": len(asked.embeddings.create(model="rules", input=[[1, 2], [3]]).data),
        "responses": [
            asked.responses.create(model="tiny", input=question).output_text != "",
            [flat.name, flat.arguments],
            filled.output_parsed.model_dump(),
        ],
    }


def by_langchain():
    import tiktoken
    from langchain_core.messages import HumanMessage
    from langchain_core.tools import tool
    from langchain_openai import ChatOpenAI, OpenAI, OpenAIEmbeddings
    from pydantic import BaseModel

    class Person(BaseModel):
        name: str
        age: int

    @tool
    def get_weather(city: str) -> str:
        """Tells the weather."""
        return f"rain in {city}"

    options = {"base_url": base, "api_key": "none", "max_retries": 0}
    tiny = ChatOpenAI(model="tiny", **options)
    rules = ChatOpenAI(model="rules", **options)
    bound = rules.bind_tools([get_weather])
    merged = None
    for chunk in bound.stream(question):
        merged = chunk if merged is None else merged + chunk
    call = bound.invoke(question).tool_calls[0]
    structured = {
        method: rules.with_structured_output(Person, method=method).invoke(person).model_dump()
        for method in ["json_schema", "function_calling"]
    }
    # By default it sends lists of tokens, by a table of another server. Here each byte is a token.
    tiktoken.encoding_for_model = lambda _: tiktoken.Encoding(
        "bytes", pat_str=".", mergeable_ranks={bytes([i]): i for i in range(256)}, special_tokens={}
    )
    tokens = OpenAIEmbeddings(model="rules", base_url=base, api_key="none")
    by_responses = {**options, "use_responses_api": True, "store": False}
    asked = ChatOpenAI(model="rules", **by_responses).bind_tools([get_weather]).invoke(question).tool_calls[0]
    texts = OpenAIEmbeddings(model="tiny", check_embedding_ctx_length=False, base_url=base, api_key="none")
    return {
        "text": tiny.invoke(question).content != "" and "".join(c.content for c in tiny.stream(question)) != "",
        "tools": [call["name"], call["args"]],
        "streamedTools": [merged.tool_calls[0]["name"], merged.tool_calls[0]["args"]],
        "structured": structured,
        "parts": rules.invoke([HumanMessage(content=parts)]).content,
        "prompts": len(OpenAI(model="tiny", max_tokens=2, **options).generate(["The", "A"]).generations),
        "embeddings": len(texts.embed_documents(["a", "b"])),
        "tokens": len(tokens.embed_documents(["a", "b"])),
        "responses": [
            ChatOpenAI(model="tiny", **by_responses).invoke(question).text != "",
            [asked["name"], asked["args"]],
        ],
    }


def by_llama_index():
    from llama_index.core.llms import ChatMessage
    from llama_index.core.tools import FunctionTool
    from llama_index.embeddings.openai_like import OpenAILikeEmbedding
    from llama_index.llms.openai_like import OpenAILike
    from pydantic import BaseModel

    class Person(BaseModel):
        name: str
        age: int

    def get_weather(city: str) -> str:
        """Tells the weather."""
        return f"rain in {city}"

    options = {"api_base": base, "api_key": "none", "is_chat_model": True, "is_function_calling_model": True}
    tiny = OpenAILike(model="tiny", max_retries=0, **options)
    rules = OpenAILike(model="rules", max_retries=0, **options)
    asked = [ChatMessage(role="user", content=question)]
    weather = FunctionTool.from_defaults(get_weather)
    called = rules.chat_with_tools([weather], user_msg=question)
    call = rules.get_tool_calls_from_response(called)[0]
    last = None
    for last in rules.stream_chat_with_tools([weather], user_msg=question):
        pass
    streamed = rules.get_tool_calls_from_response(last)[0]
    vectors = OpenAILikeEmbedding(model_name="tiny", api_base=base, api_key="none")
    return {
        "text": tiny.chat(asked).message.content != "" and "".join(c.delta for c in tiny.stream_chat(asked)) != "",
        "tools": [call.tool_name, call.tool_kwargs],
        "streamedTools": [streamed.tool_name, streamed.tool_kwargs],
        "structured": rules.as_structured_llm(Person).complete(person).raw.model_dump(),
        "embeddings": len(vectors.get_text_embedding_batch(["a", "b"])),
    }


def by_litellm():
    import litellm
    from pydantic import BaseModel

    class Person(BaseModel):
        name: str
        age: int

    litellm.suppress_debug_info = True
    options = {"api_base": base, "api_key": "none", "num_retries": 0}
    ask = lambda model, content, **more: litellm.completion(
        model=f"openai/{model}", messages=[{"role": "user", "content": content}], **options, **more
    )
    call = ask("rules", question, tools=tools).choices[0].message.tool_calls[0]
    chunks = list(ask("rules", question, tools=tools, stream=True))
    built = litellm.stream_chunk_builder(chunks).choices[0].message.tool_calls[0]
    streamed = "".join(chunk.choices[0].delta.content or "" for chunk in ask("tiny", question, stream=True))
    ranked = litellm.rerank(
        model="hosted_vllm/tiny", query="batch", documents=["picture", "a batch"], api_base=base, api_key="none"
    )
    structured = ask("rules", person, response_format=Person).choices[0].message.content
    return {
        "text": ask("tiny", question).choices[0].message.content != "" and streamed != "",
        "tools": [call.function.name, call.function.arguments],
        "streamedTools": [built.function.name, built.function.arguments],
        "structured": Person.model_validate_json(structured).model_dump(),
        "parts": ask("rules", parts).choices[0].message.content,
        "embeddings": len(litellm.embedding(model="openai/tiny", input=["a", "b"], **options).data),
        "rerank": ranked.results[0]["index"],
        "responses": litellm.responses(model="openai/tiny", input=question, **options).output[0].content[0].text != "",
    }


def by_instructor():
    import instructor
    import openai
    from pydantic import BaseModel

    class Person(BaseModel):
        name: str
        age: int

    asked = [{"role": "user", "content": person}]
    modes = {}
    for mode in ["TOOLS", "JSON", "JSON_SCHEMA"]:
        client = instructor.from_openai(
            openai.OpenAI(base_url=base, api_key="none", max_retries=0), mode=instructor.Mode[mode]
        )
        answer = client.chat.completions.create(model="rules", messages=asked, response_model=Person, max_retries=0)
        modes[mode] = answer.model_dump()
    return modes


print(json.dumps(globals()[f"by_{client}"]()))
