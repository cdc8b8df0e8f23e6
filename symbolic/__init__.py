"""The derivations: what a construction computes, step by step, in SymPy.

A derivation runs the simulators of `twoheads` on symbols, or argues with indexed sums where the number of
blocks is itself a symbol. Each step is an object with its expression, its reason and its check, printable as text
and as LaTeX. Begin with `derivation` (what a step is), `checks` (how one may follow) and `lemma_3_1`; `sums`
decides equations of sums of any length, `catalogue` holds all derivations by the paper's item.
"""
