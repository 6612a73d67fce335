"""A program of the tests: opens a session file, says `open`, and appends records, saying `ack N` after each.

    writer.py PATH create|resume COUNT SIZE [SETUP...]

`SETUP`: `limit=BYTES` caps the size of files, `user=ID` gives up the rights of root, and with `retry=BYTES` it appends once
more after a failure, under that cap. A COUNT of 0 keeps the file open until its input ends. Its last line is `closed`,
`failed TYPE REASON` or `retried`.
"""

import os
import resource
import sys
from pathlib import Path

from treblehook.agent.transcript import Transcript, TranscriptFailed

path, how, count, size = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
setup = dict(argument.split("=") for argument in sys.argv[5:])
if "user" in setup and os.geteuid() == 0:
    os.seteuid(int(setup["user"]))
if "limit" in setup:
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(setup["limit"]), resource.RLIM_INFINITY))

first = 0
try:
    if how == "create":
        transcript = Transcript.create(path)
    else:
        transcript, records = Transcript.resume(path)
        first = len(records)
    print("open", flush=True)
    for number in range(first, first + count):
        transcript.append({"n": number, "text": "x" * size})
        print("ack", number, flush=True)
except TranscriptFailed as failure:
    print("failed", type(failure).__name__, failure.reason, flush=True)
    if "retry" in setup:
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(setup["retry"]), resource.RLIM_INFINITY))
        transcript.append({"n": "retried"})
        print("retried", flush=True)
    sys.exit(3)
if count == 0:
    sys.stdin.read()
transcript.close()
print("closed", flush=True)
