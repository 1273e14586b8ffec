"""Asks a service by one client of MCP, and prints what it got as JSON: clients.py URL CLIENT MODE"""

import asyncio
import json
import sys

url, client, mode = sys.argv[1:]


async def by_mcp():
    from mcp.client.client import Client

    async with Client(url, mode=mode) as agent:
        told = []

        async def on_progress(progress, total, message):
            told.append(progress)

        prompt = await agent.get_prompt("greet", {"name": "Ann"})
        called = await agent.call_tool("add", {"a": 1, "b": 2})
        failed = await agent.call_tool("add", {"a": "x", "b": 2})
        picture = (await agent.call_tool("picture", {})).content[0]
        count = await agent.call_tool("count", {"to": 3}, progress_callback=on_progress)
        read = await agent.read_resource("serving://shop/items/7")
        return {
            "version": agent.protocol_version,
            "tools": [tool.name for tool in (await agent.list_tools()).tools],
            "called": called.structured_content,
            "failed": failed.is_error,
            "picture": [picture.type, picture.mime_type],
            "count": [count.content[0].text, told],
            "prompt": prompt.messages[0].content.text,
            "resources": [str(each.uri) for each in (await agent.list_resources()).resources],
            "templates": [
                each.uri_template for each in (await agent.list_resource_templates()).resource_templates
            ],
            "read": json.loads(read.contents[0].text),
        }


async def by_fastmcp():
    from fastmcp import Client

    async with Client(url, mode=mode) as agent:
        told = []

        async def on_progress(progress, total, message):
            told.append(progress)

        prompt = await agent.get_prompt("greet", {"name": "Ann"})
        called = await agent.call_tool("add", {"a": 1, "b": 2})
        failed = await agent.call_tool("add", {"a": "x", "b": 2}, raise_on_error=False)
        picture = (await agent.call_tool("picture", {})).content[0]
        count = await agent.call_tool("count", {"to": 3}, progress_handler=on_progress)
        read = await agent.read_resource("serving://shop/items/7")
        return {
            "version": agent.protocol_version,
            "tools": [tool.name for tool in await agent.list_tools()],
            "called": called.structured_content,
            "failed": failed.is_error,
            "picture": [picture.type, picture.mime_type],
            "count": [count.content[0].text, told],
            "prompt": prompt.messages[0].content.text,
            "resources": [str(each.uri) for each in await agent.list_resources()],
            "templates": [each.uri_template for each in await agent.list_resource_templates()],
            "read": json.loads(read[0].text),
        }


print(json.dumps(asyncio.run(globals()[f"by_{client}"]())))
