"""Names of chunks. Lua shortens a name beyond 58 bytes in its messages; here such a file gets a short name that leads back to it."""

import re

LONGEST = 58


class Names:
    """The files of one VM by the name that Lua's messages have for them."""

    def __init__(self) -> None:
        self._files: dict[str, str] = {}
        self._long: dict[str, str] = {}

    def chunk(self, file: str) -> bytes:
        """The chunk name for a file."""
        short = file
        if len(file.encode("utf-8", "surrogateescape")) > LONGEST or "\n" in file:
            short = self._long.get(file) or self._shortened(file)
            self._long[file] = short
        self._files[short] = file
        return b"@" + short.encode("utf-8", "surrogateescape")

    def _shortened(self, file: str) -> str:
        tail = re.sub(r"\s", " ", file)
        while len(tail.encode("utf-8", "surrogateescape")) > LONGEST - 8:
            tail = tail[1:]
        number = 1
        while (short := f"...{number if number > 1 else ''}{tail}") in self._files:
            number += 1
        return short

    def file(self, source: bytes) -> str:
        """The file that Lua calls `source`."""
        name = source.decode("utf-8", "surrogateescape")
        return self._files.get(name, name)

    def expanded(self, message: str) -> str:
        """A message with whole names."""
        for file, short in self._long.items():
            message = message.replace(f"{short}:", f"{file}:")
        return message

    def place(self, message: str) -> tuple[str, int] | None:
        """The file and line that a message begins with."""
        for file in self._files.values():
            if message.startswith(f"{file}:") and (line := re.match(r"(\d+):", message[len(file) + 1 :])):
                return file, int(line[1])
        return None
