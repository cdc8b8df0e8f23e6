"""The derivations: what a construction computes, step by step, in SymPy.

A derivation runs the simulators of `twoheads` on symbols, or argues with indexed sums where the number of
blocks is itself a symbol. Each step is an object with its expression and its reason, printable as text
and as LaTeX.
"""
