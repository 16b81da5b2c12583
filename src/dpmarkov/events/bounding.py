"""Keep at most m events of each user, chosen so that one user's presence never changes another's.

The events of a user who has N > m of them are put in the order of their cells, and every (N/m)-th is kept,
beginning at a place that SHA-256(key, user) decides; the key is fresh from the operating system for each
count. Each event is thus kept with probability m/N, and each cell keeps its share of the m to within one
(which is less noise than m events drawn one by one). Equal events are interchangeable, so one hash for a
user says for each event whether it is kept.

What is kept of a user depends on the key and on this user's own events alone: whoever is added to the data or
leaves it, all others keep what they had. This holds for every key, so the guarantee does not even need the
key to stay secret. Ordering by `random()` fails here: a row more or less shifts the numbers that later rows
get.
"""

from dpmarkov.counts import COUNT_LIMIT
from dpmarkov.errors import ParameterError
from dpmarkov.events.dialect import Dialect

__all__ = ["bounded_counts", "check_bounds"]

LARGEST_BOUND = 10**6


def check_bounds(max_events: int | None, max_per_pair: int | None) -> None:
    """Refuse bounds that are no whole numbers >= 1."""
    for name, value in (("max_events", max_events), ("max_per_pair", max_per_pair)):
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= LARGEST_BOUND:
            raise ParameterError(f"{name} must be a whole number from 1 to {LARGEST_BOUND:,}; got {value!r}")
    if max_per_pair is not None:
        if max_events is None:
            raise ParameterError("max_per_pair goes with max_events, the bound on all events of a user")
        if max_per_pair > max_events:
            raise ParameterError(
                f"max_per_pair must not exceed max_events; got {max_per_pair} and {max_events}"
            )


def bounded_counts(
    dialect: Dialect,
    *,
    max_events: int | None,
    max_per_pair: int | None,
    weighted: bool,
    cells: int,
    key: bytes,
) -> tuple[dict[str, str], str]:
    """Steps and selection that turn `events` (u, cell) into counts (cell, n) with every user bounded.

    Where events come with weights (u, cell, n), a user's weight in one of the `cells` is held at
    `LARGEST_BOUND`, or lower where a user with that much in every cell would overflow 64 bits below.
    """
    whole, total = dialect.cast_whole, dialect.least(f"SUM({dialect.wide('n')})", COUNT_LIMIT)
    if max_events is None:
        amount = f"SUM({dialect.wide('n')})" if weighted else "COUNT(*)"
        steps = {"kept": f"SELECT cell, {amount} AS n FROM events GROUP BY cell"}
        return steps, f"SELECT cell, {total} AS n FROM kept GROUP BY cell"
    amount = f"SUM({dialect.wide('n')})" if weighted else "COUNT(*)"
    if weighted or max_per_pair is not None:
        most = max_per_pair or LARGEST_BOUND
        if weighted:
            # A user's running weight times max_events, plus a start below that weight, stays below 2^63.
            most = max(1, min(most, 2**62 // max_events // cells))
        amount = dialect.least(amount, most)
    begin = dialect.hash_number(f"'{key.hex()} ' || {dialect.cast_text('u')}")
    # The events are read once: whatever follows works on a user's cells, which are far fewer.
    steps = {
        "pairs": f"SELECT u, cell, {amount} AS n FROM events GROUP BY u, cell",
        "heavy": f"SELECT u, {whole('SUM(n)')} AS size FROM pairs GROUP BY u HAVING SUM(n) > {max_events}",
        "begun": f"SELECT u, size, {dialect.remainder(begin, 'size')} AS begin FROM heavy",
        "light": (
            "SELECT p.cell AS cell, p.n AS n FROM pairs AS p LEFT JOIN heavy AS h ON h.u = p.u "
            "WHERE h.u IS NULL"
        ),
        "bounded": (
            "SELECT p.u AS u, p.cell AS cell, p.n AS n, h.size AS size, h.begin AS begin "
            "FROM pairs AS p JOIN begun AS h ON h.u = p.u"
        ),
    }
    running = whole(
        "SUM(n) OVER (PARTITION BY u ORDER BY cell ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)"
    )
    steps["ranked"] = f"SELECT cell, size, begin, n, {running} AS upto FROM bounded"
    last = dialect.quotient(f"upto * {max_events} + begin", "size")
    before = dialect.quotient(f"(upto - n) * {max_events} + begin", "size")
    steps["chosen"] = f"SELECT cell, {last} - {before} AS n FROM ranked"
    steps["kept"] = "SELECT cell, n FROM light UNION ALL SELECT cell, n FROM chosen"
    return steps, f"SELECT cell, {total} AS n FROM kept GROUP BY cell"
