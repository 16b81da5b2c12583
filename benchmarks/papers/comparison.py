"""The rows of the table: printed | its formula | exact | exact epsilon at the paper's delta."""

from dataclasses import dataclass

from dpmarkov.papers import benvenuti, fallin, gohari, ponnoprat
from dpmarkov.privacy.pairs import BetaPair
from dpmarkov.privacy.profile import Profile


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One published number beside its formula's and the truth."""

    paper: str
    what: str
    printed: str
    formula: str
    exact: str
    same_mechanism: str


def entry(k: float, eta: float, shift: float, rows: int = 1) -> Profile:
    """The exact profile of Dirichlet(k p) with entries >= eta, when `rows` rows shift two entries."""
    return Profile(((BetaPair(alpha=k * eta, weight=k * shift),) * rows,))


def sci(value: float) -> str:
    """Three digits, however small."""
    return f"{value:.3g}"


def rows() -> list[Row]:
    """All comparisons."""
    return [*gohari_rows(), *fallin_rows(), *benvenuti_rows(), *ponnoprat_rows()]


def gohari_rows() -> list[Row]:
    gamma = gohari.equation16(k=24, eta=0.05, n_watched=2, delta=0.05)
    common = {"k": 24.0, "eta": 0.05, "eta_bar": 0.05, "b": 1.0, "n_watched": 2, "gamma": gamma}
    right, printed = gohari.theorem2(**common, n_vectors=100), gohari.theorem2_as_printed(**common, n=3)
    exact = entry(24, 0.05, 1 / 200)
    return [
        Row(
            paper="Gohari et al.",
            what="average of 100 vectors, k = 24, delta = .05: epsilon",
            printed="1.18",
            formula=f"{right.epsilon:.3f} with b/(2N); {printed.epsilon:.1f} with b/(2n), as printed",
            exact=f"delta({1.18}) = {sci(exact.certified_delta(1.18))}",
            same_mechanism=f"{exact.certified_epsilon(0.05):.3f}",
        )
    ]


def fallin_rows() -> list[Row]:
    made = []
    for k, printed, delta in ((9.87, 1.16, 0.011), (98.7, 11.12, 0.019)):
        claim = fallin.theorem1_one_row(
            k=k, eta=0.1, eta_bar=0.051, b=0.025, n_watched=[2] * 32, gamma=[0.001] * 32
        )
        for rows_changed in (1, 32):
            profile = entry(k, 0.1, 0.0125, rows_changed)
            which = "one row differs" if rows_changed == 1 else "all 32 rows differ (its Definition 4)"
            true = float(profile.delta(printed))
            made.append(
                Row(
                    paper="Fallin et al.",
                    what=f"k = {k}, {which}: (epsilon, delta)",
                    printed=f"({printed}, {delta})",
                    formula=f"({claim.epsilon:.3f}, {sci(claim.delta)}) with |W| = 2"
                    + (f"; not met: assumption {claim.violated[0][0]}" if claim.violated else ""),
                    exact=f"delta({printed}) = {sci(true)}" + (" > claimed" if true > delta else ""),
                    same_mechanism=f"{profile.epsilon(delta):.3f}",
                )
            )
    return made


def benvenuti_rows() -> list[Row]:
    grades = benvenuti.theorem1(k=20.6, eta=0.073, n_entries=98, n_categories=5, gamma=0.0004)
    exact = entry(20.6, 0.073, 1 / 98)
    voided = benvenuti.data_dependent_eta_as_printed((2, 24, 24), gamma=1e-8)
    return [
        Row(
            paper="Benvenuti et al.",
            what="grades, N = 98, n = 5, k = 20.6: (epsilon, delta)",
            printed="(2.255, .0026)",
            formula=f"({grades.epsilon:.3f}, {grades.delta:.4f})",
            exact=f"delta(2.255) = {sci(exact.certified_delta(2.255))}",
            same_mechanism=f"{exact.certified_epsilon(0.0026):.3f} "
            f"({exact.certified_epsilon(1e-5):.3f} at delta = 1e-5)",
        ),
        Row(
            paper="Benvenuti et al.",
            what="eta taken from the data: counts (2, 24, 24), gamma = 1e-8",
            printed="(not an example of theirs)",
            formula=f"({voided.epsilon:.4f}, {sci(voided.delta)})",
            exact="delta >= 3.715e-08 for the neighbour (1, 25, 24): no guarantee",
            same_mechanism="none; the floor form needs no assumption",
        ),
    ]


def ponnoprat_rows() -> list[Row]:
    made = []
    for alpha in (1.0, 5.0, 50.0):
        claim = ponnoprat.theorem2(alpha_m=alpha, delta=1e-5, delta2_squared=2.0)
        exact = Profile(((BetaPair(alpha=alpha, weight=1.0),),))
        made.append(
            Row(
                paper="Ponnoprat",
                what=f"Theorem 2, prior {alpha:g}, replace-one, delta = 1e-5: epsilon",
                printed="(Figure 1, no number)",
                formula=f"{claim.epsilon:.3g}",
                exact=f"delta({claim.epsilon:.3g}) = {sci(exact.certified_delta(claim.epsilon))}",
                same_mechanism=f"{exact.certified_epsilon(1e-5):.3g}",
            )
        )
    return made
