"""A guest that runs whatever Python it is given and answers with the variable `answer`, so that a test can try what it can reach."""

import os
import random
import socket
import sys
import time

from componentize_py_types import Err
from wit_world import exports
from wit_world.imports import ask

REACHABLE = {"ask": ask, "os": os, "random": random, "socket": socket, "sys": sys, "time": time}


class Code(exports.Code):
    def run(self, source):
        names = dict(REACHABLE)
        try:
            exec(source, names)
        except Exception as error:
            raise Err(f"{type(error).__name__}: {error}") from error
        return str(names.get("answer"))
