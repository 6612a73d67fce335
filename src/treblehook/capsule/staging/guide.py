"""`MURMUR.md`: what the agent is told of its place, which is also its system prompt."""

from collections.abc import Mapping

from treblehook.capsule.manifest.values import CapsuleManifest
from treblehook.capsule.workdir import Workdir


def guide(manifest: CapsuleManifest, workdir: Workdir, tools: Mapping[str, str], file_tools: list[str], *, compacts: bool) -> str:
    """The text. `tools` are the manifests of shell tools and tool artifacts; hooks are not named, since nobody can call them."""
    own = "\n\n".join(f"### {name}\n\n```yaml\n{text.rstrip()}\n```" for name, text in tools.items()) or "None."
    window = manifest.context.max_tokens
    kept = f"at most {window} tokens" if window else "not limited here"
    shorter = "A hook shortens it when it is nearly full." if compacts and window else "Nothing shortens it: compaction is not configured."
    return f"""# {manifest.name} {manifest.version}

You are an agent that works in a folder by calling tools. Do what the task asks and no more, and say plainly what you did and what you
could not do. A tool result that says a call was refused is final: making the same call again is refused again.

## Workdir

{workdir.accessible}

Relative paths start there. Your task is in `task.md`. The file tools reach nothing outside of it.

## Tools

File tools: {", ".join(file_tools)}.

{own}

## Context

Your conversation is {kept}. {shorter}
"""
