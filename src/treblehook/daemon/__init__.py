"""The HTTP service of a home lives here: its sessions, its webhooks, its health; no hook is loaded and no agent is built here.

`serving.py` is the daemon from its first line to its end, `http/` what every request passes, `sessions/` and `webhooks/` what
requests are about. `home/` makes what is served.
"""
