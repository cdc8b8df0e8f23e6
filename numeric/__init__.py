"""The same simulators in NumPy: fast, on real input, with their errors measured against direct attention.

It reads and checks a user's arrays, holds the embedded real input (see `data/README.md`), runs a
construction head by head and states what was counted and how far the answer is from the reference. It
imports `twoheads` and nothing above.
"""
