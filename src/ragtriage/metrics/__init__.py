"""Every metric, one decorated function each; importing this package fills the registry.

A family is a module that knows no other family. Expressions are over the terms that
`ragtriage.relevance` adds to each case; no file, clock or environment is touched.
"""

from ragtriage.metrics import (
    abstention,
    answer,
    authorization,
    citation,
    claims,
    context,
    retrieval,
)
from ragtriage.metrics.registry import REGISTRY, Column, Metric, columns_for, with_metrics

__all__ = [
    "REGISTRY",
    "Column",
    "Metric",
    "abstention",
    "answer",
    "authorization",
    "citation",
    "claims",
    "columns_for",
    "context",
    "retrieval",
    "with_metrics",
]
