"""The scalars that a construction runs on, one module per kind; `domain_of` recognises them."""

from twoheads.scalars.domain import Array, Domain, domain_of
from twoheads.scalars.logs import Log, given_weights

__all__ = ["Array", "Domain", "Log", "domain_of", "given_weights"]
