"""The paper's constructions, each written once, over any scalar.

One module per result, the paper's symbols in the code and its item ids in the docstrings. A construction
is a plain function on arrays that sees a small transformer only through an `Oracle`; fed with floats it
computes, fed with SymPy symbols it derives, fed with Z3 reals it states what is to be proved. This room
imports none of the others, and of other libraries only NumPy and array-api-compat; the adapters in
`twoheads.scalars` load theirs when such an array appears.
"""
