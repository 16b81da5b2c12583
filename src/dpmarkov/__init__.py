"""Private Markov chains from sensitive event data, with a guarantee that is proven and certified."""
