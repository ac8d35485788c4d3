"""Which required evidence stands where: requirements matched against each list of a case.

Everything that counts hits (metrics, ledger, stages) counts from here, so groups, equivalents,
repeats and permissions mean the same everywhere. No metric and no verdict is computed here.

A *requirement* is a group of interchangeable IDs. An *authorised* ID is one this requester
may see; only authorised members hit.
"""

from ragtriage.relevance.corpus import Corpus
from ragtriage.relevance.matching import Relevance, match

__all__ = ["Corpus", "Relevance", "match"]
