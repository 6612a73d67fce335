"""Work that a module hands to a thread does not hold up the end of the process."""

import subprocess
import sys

_PROGRAM = """
import asyncio, threading, time
from treblehook.runtimes.python.daemon_threads import DaemonThreads

async def main():
    loop = asyncio.get_running_loop()
    loop.set_default_executor(DaemonThreads())
    assert await asyncio.to_thread(lambda: 3) == 3
    asyncio.ensure_future(asyncio.to_thread(threading.Event().wait))
    await asyncio.sleep(0.05)

loop = asyncio.new_event_loop()
loop.run_until_complete(main())
print("left")
"""


def test_a_thread_that_never_ends_is_left_behind() -> None:
    ran = subprocess.run([sys.executable, "-c", _PROGRAM], capture_output=True, text=True, timeout=60, check=False)

    assert (ran.returncode, ran.stdout) == (0, "left\n"), ran.stderr
