"""What Treblehook costs, measured beside floors and peers in one run; no test lives here.

`rows/` holds one file for each row of the table (design, section 8). A row measures two things in turns and states the limit
that their ratio must keep. `python -m benchmarks` runs all rows, or those named, and writes `results.md`.
"""
