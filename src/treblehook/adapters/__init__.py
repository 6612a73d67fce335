"""Each Python agent SDK has one object here that puts hooks around its tools and turns; no event may be fired and no policy decided here.

One file an SDK, which imports that SDK when it is imported: `pydantic_ai.py`, `langchain.py`, `openai_agents.py`, `strands.py`,
`google_adk.py`, `claude_agent_sdk.py`, which takes the codec of Claude Code from the gateway; `openai_tools.py` is a part of one of them.
What they share: `guard.py` keeps the sessions of one such object, `guarded.py` is one of them, `opening.py` opens one with a `Hooks` or a
`Home`.
"""
