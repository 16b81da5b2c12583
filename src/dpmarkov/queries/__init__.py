"""Private vectors, averages and matrices: probabilities that are themselves the sensitive data.

Nothing was counted here: a probability vector, a collection of them, or a stochastic matrix (a Markov chain,
or a policy of a decision process: states by actions) is to be published without giving its exact entries
away. The unit is `Entry(b=...)`: what can be told apart is bounded for rows that differ by b in L1 norm.
"""

from dpmarkov.queries.claim import paper_claim
from dpmarkov.queries.mechanism import EntryDirichlet
from dpmarkov.queries.privatize import privatize_average, privatize_matrix, privatize_vector

__all__ = ["EntryDirichlet", "paper_claim", "privatize_average", "privatize_matrix", "privatize_vector"]
