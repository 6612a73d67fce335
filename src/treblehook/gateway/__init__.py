"""Agents that people already have are guarded here: their hook calls in, answers that they honour out; no contract and no HTTP may.

`agents/` has one codec an agent, `values.py` what a hook call and an answer are between codec and engine, `service.py` takes a call from
its bytes to its answer, `client/` is what an agent runs, `install/` puts it into the agent's configuration and takes it out again.
"""
