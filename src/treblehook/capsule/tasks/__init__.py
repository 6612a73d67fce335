"""One task after another lives here: what a task was given and came to, how it is reopened, what its hooks may read of it.

`runner.py` takes the tasks, `keeper.py` is told by the agent what becomes of them, `task_md.py` is the text of a task that is done again.
`desk.py`, `record.py` and `inference.py` are what hooks may ask for: the task's texts, the conversation, a completion.
"""
