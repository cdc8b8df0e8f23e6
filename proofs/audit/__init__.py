"""The audit: every item of the paper held against a machine, as printed and as repaired.

An `Entry` is one item. Its *readings* encode what is printed, literally, as functions that are run over small cases
in exact arithmetic; the smallest case at which a reading fails is the counterexample, and it is replayed in floats.
Its *evidence* are obligations and checks: of the item itself where it holds as printed, of its repair where not.
Nothing that is said of an item is typed: whether it holds, what the failure affects, the counterexample and the
verdict are computed from what ran, and an entry whose words do not fit that is a failure of the audit.
"""
