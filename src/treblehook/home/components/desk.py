"""The task under way, as its hooks may read it (murmur.md 3.7)."""

from treblehook.contracts.murmur.services import TaskIo, TaskText


class TaskDesk(TaskIo):
    """One task at a time. An attempt begins once its start has been told; its result is there once its loop has returned."""

    def __init__(self) -> None:
        self.task_id: str | None = None
        self.original = ""
        self._given = ""
        self._open = False
        self._output: str | None = None
        self._said: str | None = None

    def put(self, task_id: str, text: str) -> None:
        """The next task."""
        self.task_id, self.original, self._given = task_id, text, text
        self._open = False
        self._output = self._said = None

    def begun(self) -> None:
        """Its first attempt begins."""
        self._open = True

    def again(self, text: str) -> None:
        """Another attempt begins, with `text`."""
        self._given = text
        self._output = self._said = None

    def said(self, text: str, *, final: bool) -> None:
        """The model said something; only what it ends with is a result."""
        self._said = text if final else None

    def finished(self) -> None:
        """The loop of an attempt has returned."""
        self._output = self._said

    def clear(self) -> None:
        """No task is under way."""
        self.task_id = None
        self._open = False

    def current(self) -> TaskText | None:
        """The task's texts, None between tasks."""
        return TaskText(self._given, self.original, self._output) if self._open else None
