"""A guard in plain Python: blocks commands that remove files, and keeps secrets out of what the model reads.

    python examples/guard.py --model anthropic:NAME "tidy up this folder"

The guard fails closed: if it crashes, the call is blocked. Commands are read as words, so it is a seat belt and no wall.
"""

import argparse
import re
import shlex

from treblehook import Block, Hooks, PreToolCall, Rewrite, ToolFinished, run

REMOVERS = {"rm", "rmdir", "shred", "unlink"}
SECRET = re.compile(r"(?i)\b(password|token|api_key)(\s*[:=]\s*)\S+")

hooks = Hooks()


@hooks.on(PreToolCall, pattern="bash", priority=5, on_error="closed")
def guard(event: PreToolCall) -> Block | None:
    """Block a command in which some word is a program that removes files."""
    words = shlex.split(event.call.input["command"], comments=True)
    removers = sorted(REMOVERS.intersection(word.rpartition("/")[2].strip(";&|()`$") for word in words))
    return Block(f"{removers[0]} removes files, which only the user does here") if removers else None


@hooks.on(ToolFinished)
def redact(event: ToolFinished) -> Rewrite | None:
    """Take the values of passwords, tokens and keys out of a result."""
    text = SECRET.sub(r"\1\2[redacted]", event.content)
    return Rewrite(content=text) if text != event.content else None


def main() -> None:
    """Run one prompt under the guard; whatever it lets through is approved."""
    parser = argparse.ArgumentParser(description="Run a prompt under the guard.")
    parser.add_argument("prompt")
    parser.add_argument("--model", help="a SPEC; else the home's default")
    arguments = parser.parse_args()
    reply = run(arguments.prompt, model=arguments.model, hooks=hooks, approve="always")
    print(reply.text or f"{reply.status}: {reply.reason}")


if __name__ == "__main__":
    main()
