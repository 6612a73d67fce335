"""Murmur's packaged agent lives here: its manifest, staging, workdir, tasks and trace; what a hook of it means lives in `contracts/murmur`.

`launch.py` is one launch from start to end; read it first. Then, in the order in which a launch comes through them:
`manifest/` reads what the operator wrote, `staging/` makes of it everything that a launch needs, `workdir.py` is where its files are,
`tools/` is what the model is offered, `session.py` opens the agent's session for it, `tasks/` takes one task after another, `trace/` writes
down what happened. `checking.py` is a staging in which nothing is run.
"""
