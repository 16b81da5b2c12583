"""Four papers on Dirichlet mechanisms, one module each: their theorems as functions that carry their names.

`gohari` (a vector, an average of vectors), `fallin` (a stochastic matrix), `benvenuti` (counts and Markov
chains), `ponnoprat` (posterior sampling). Each function gives what the paper's formula gives, with the
paper's assumptions checked and reported. What is misprinted or does not hold stands under a name that ends in
`_as_printed` beside the corrected one. No sampling happens here.
"""
