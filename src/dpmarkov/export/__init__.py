"""A release out to where people work: frames, graphs, model checkers, other Markov libraries, sequences."""

from dpmarkov.export.checkers import write_prism
from dpmarkov.export.graphs import to_networkx, write_graphml
from dpmarkov.export.libraries import to_pydtmc, to_quantecon
from dpmarkov.export.synthetic import synthetic, write_synthetic
from dpmarkov.export.tables import to_arrow, to_pandas, to_polars, write_csv

__all__ = [
    "synthetic",
    "to_arrow",
    "to_networkx",
    "to_pandas",
    "to_polars",
    "to_pydtmc",
    "to_quantecon",
    "write_csv",
    "write_graphml",
    "write_prism",
    "write_synthetic",
]
