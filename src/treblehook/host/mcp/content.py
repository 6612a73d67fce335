"""What a server's answer is as text for the model."""

import json

from mcp.types import CallToolResult, ContentBlock, TextResourceContents

from treblehook.host.tool import ToolOutput


def as_output(result: CallToolResult) -> ToolOutput:
    """Texts as they are, one after the other; a line in brackets in the place of what is no text."""
    parts = [_part(block) for block in result.content]
    if not parts and result.structured_content is not None:
        parts = [json.dumps(result.structured_content, ensure_ascii=False)]
    return ToolOutput("\n".join(parts) or "[The tool returned nothing.]", is_error=result.is_error)


def _part(block: ContentBlock) -> str:
    match block.type:
        case "text":
            return block.text
        case "image" | "audio":
            return f"[{block.type}: {block.mime_type}, {_decoded_size(block.data)} bytes; not shown]"
        case "resource_link":
            return f"[resource: {block.uri}, {block.name}]"
        case "resource":
            if isinstance(block.resource, TextResourceContents):
                return block.resource.text
            size = _decoded_size(block.resource.blob)
            return f"[resource: {block.resource.uri}, {block.resource.mime_type or 'unknown type'}, {size} bytes; not shown]"


def _decoded_size(base64: str) -> int:
    return len(base64) * 3 // 4 - base64[-2:].count("=")
