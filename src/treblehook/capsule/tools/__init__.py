"""What a capsule offers its model lives here: a shell tool for each allowed program, the file tools inside the workdir, and executables.

`offered.py` puts them together, `permission.py` says who may call them. What hooks say to a call is decided on its path, in `host/`.
"""
