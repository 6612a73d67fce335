"""Python functions whose results are kept step by step, with hooks before each step, live here (vera.md 7.2); no schedule and no model may.

`decorators.py` is what a user writes with, `running.py` takes one run from start to end, `hooks.py` asks the step hooks.
"""

from treblehook.workflow.command import CommandHook
from treblehook.workflow.decorators import Step, Workflow, step, workflow
from treblehook.workflow.errors import JournalFailed, RunBusy, RunNotFound, WorkflowError
from treblehook.workflow.hooks import StepHook
from treblehook.workflow.running import Run

__all__ = [
    "CommandHook",
    "JournalFailed",
    "Run",
    "RunBusy",
    "RunNotFound",
    "Step",
    "StepHook",
    "Workflow",
    "WorkflowError",
    "step",
    "workflow",
]
