"""The claims of the paper as obligations, and what solvers say about them.

A claim is one item of the paper, or one of ours where we go beyond it. An obligation is one formula that
must be valid, with its hypotheses, its goal and the range of parameters that it covers; its canonical
form is SMT-LIB 2 text, which Z3 and cvc5 both read. An obligation proves that its hypotheses can be met,
and its mutants must be refuted: a check that cannot fail proves nothing. A time-out is never a proof.
"""
