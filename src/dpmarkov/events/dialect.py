"""The thin layer between one SQL text and the engines that run it.

All engines are asked the same question in the same words. What they spell differently stands in the slots of
a `Dialect`: casts that never fail, regular expressions, times, SHA-256 and a wide integer. Columns reach the
SQL under plain names (`c0`, `c1`, ...); a user's own names are quoted once, where a table is opened.

How values are read (the same on every engine; no content makes a query fail):

- *whole*: whole numbers, `true`/`false` (booleans or text) as 1/0, floats and decimals that are whole and
  below 2^53 (9.2 * 10^18 for decimals), and text that writes a whole number below 9.2 * 10^18 (`7`, `+7`,
  `007`, `7.0`, with blanks around it or not). Whatever else (3.5, NaN, `abc`, the empty text) is missing.
- *text*: text as it stands, the decimal text of a whole number, and dates of the years 1 to 9999 (each engine
  writes farther ones in its own way). A fractional number is read as missing.
- *moments*: within 46,000,000 days of 1970 (about 126,000 years), so that no engine's microseconds overflow.
"""

from abc import ABC, abstractmethod
from enum import Enum

__all__ = ["ISO_ZONE", "Dialect", "DuckDialect", "Kind"]

_LEAP = "([0-9]{2}(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)-02-29"
_DATE = (
    "([0-9]{4}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|"
    f"02-(0[1-9]|1[0-9]|2[0-8]))|{_LEAP})"
)
_CLOCK = "([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]([.][0-9]{1,6})?"
ISO_ZONE = "(Z|[+-](0[0-9]|1[0-3]):[0-5][0-9])"
_DAY_US = 86_400_000_000
_FARTHEST = 46_000_000 * _DAY_US
_YEAR_ONE = 719_162
"""Days from the year 1 to 1970."""
_LARGEST = 92 * 10**17
"""What text and decimals stay below: the most that is told by its first digits and fits 64 bits."""


class Kind(Enum):
    """What a column holds, as far as its declared type tells."""

    INTEGER = "whole numbers"
    DECIMAL = "decimal numbers"
    FLOAT = "floating-point numbers"
    BOOLEAN = "booleans"
    TEXT = "text"
    DATE = "dates"
    TIMESTAMP = "timestamps"
    OTHER = "another type"


class Dialect(ABC):
    """The slots that engines fill differently."""

    name: str
    text_type = "VARCHAR"
    wide_type = "DECIMAL(38, 0)"
    row_place = "ROW_NUMBER() OVER ()"
    whole_pattern = "^[ \t]*([+-]?)0*([0-9]{1,18}|[1-8][0-9]{18}|9[01][0-9]{17})([.]0*)?[ \t]*$"
    beyond_pattern = "^[ \t]*[+]?0*([1-9][0-9]{19,}|9[2-9][0-9]{17})([.]0*)?[ \t]*$"

    @staticmethod
    def quote(name: str) -> str:
        """`name` as a quoted identifier."""
        return '"' + name.replace('"', '""') + '"'

    @staticmethod
    def literal(text: str) -> str:
        """`text` as a string literal."""
        return "'" + text.replace("'", "''") + "'"

    @abstractmethod
    def matches(self, text: str, pattern: str) -> str:
        """Whether `text` matches a regular expression."""

    @abstractmethod
    def hash_number(self, text: str) -> str:
        """The first 60 bits of the SHA-256 of a text's UTF-8 bytes, as a 64-bit integer."""

    @abstractmethod
    def quotient(self, whole: str, part: str) -> str:
        """Whole-number division of integers >= 0, rounded down."""

    @staticmethod
    def remainder(whole: str, part: str) -> str:
        """The remainder of integers >= 0."""
        return f"(({whole}) % {part})"

    @abstractmethod
    def moment(self, expression: str, kind: Kind) -> str:
        """A timestamp or a date as microseconds since 1970, in a type that holds them for every value."""

    @abstractmethod
    def text_moment(self, expression: str, zoned: bool) -> str:
        """Valid ISO 8601 text with seconds, with or without a zone, as microseconds since 1970."""

    @abstractmethod
    def day(self, days: str) -> str:
        """Days since 1970 as a date."""

    def is_near(self, expression: str, kind: Kind) -> str:
        """Whether a timestamp or a date lies within 46,000,000 days of 1970."""
        return f"{self.moment(expression, kind)} BETWEEN -{_FARTHEST} AND {_FARTHEST}"

    def epoch_us(self, expression: str, kind: Kind) -> str:
        """A timestamp, a date or ISO 8601 text as microseconds since 1970 (UTC where it names no zone)."""
        if kind is not Kind.TEXT:
            value = self.cast_whole(self.moment(expression, kind))
            return f"(CASE WHEN {self.is_near(expression, kind)} THEN {value} END)"
        # The patterns let through dates and times of day and nothing else, so that no cast can fail.
        forms = [
            (f"^{_DATE}$", f"{expression} || ' 00:00:00'", False),
            (f"^{_DATE}[ T]([01][0-9]|2[0-3]):[0-5][0-9]$", f"{expression} || ':00'", False),
            (f"^{_DATE}[ T]{_CLOCK}$", expression, False),
            (
                f"^{_DATE}[ T]([01][0-9]|2[0-3]):[0-5][0-9]{ISO_ZONE}$",
                f"substr({expression}, 1, 16) || ':00' || substr({expression}, 17)",
                True,
            ),
            (f"^{_DATE}[ T]{_CLOCK}{ISO_ZONE}$", expression, True),
        ]
        cases = " ".join(
            f"WHEN {self.matches(expression, pattern)} THEN {self.text_moment(text, zoned)}"
            for pattern, text, zoned in forms
        )
        return f"(CASE WHEN {self.matches(expression, '^0000')} THEN NULL {cases} END)"

    def time_part(self, part: str, expression: str) -> str:
        """Microseconds since 1970 as hour (0-23), weekday (1 = Monday), month (1-12) or date (YYYY-MM-DD).

        Missing outside the years 1 to 9999.
        """
        first = _YEAR_ONE * _DAY_US
        since = f"({expression} + {first})"
        days = self.quotient(since, str(_DAY_US))
        match part:
            case "hour":
                value = self.quotient(f"{since} - {days} * {_DAY_US}", "3600000000")
            case "weekday":
                value = f"({days}) % 7 + 1"  # the year 1 began on a Monday
            case "month":
                value = f"CAST(EXTRACT(MONTH FROM {self.day(f'{days} - {_YEAR_ONE}')}) AS BIGINT)"
            case _:
                value = self.cast_text(self.day(f"{days} - {_YEAR_ONE}"))
        last = 2_932_896 * _DAY_US + _DAY_US - 1
        return f"(CASE WHEN {expression} BETWEEN -{first} AND {last} THEN {value} END)"

    def cast_text(self, expression: str) -> str:
        """Any value as text."""
        return f"CAST({expression} AS {self.text_type})"

    def cast_whole(self, expression: str) -> str:
        """A number that is known to be whole and to fit, as a 64-bit integer."""
        return f"CAST({expression} AS BIGINT)"

    def narrow(self, expression: str, below: int) -> str:
        """A whole number from 0 to `below` - 1 in a small type: windows sort narrow keys in half the time."""
        return f"CAST({expression} AS {'SMALLINT' if below <= 2**15 else 'INTEGER'})"

    def wide(self, expression: str) -> str:
        """A 64-bit integer in a type whose sums cannot overflow."""
        return f"CAST({expression} AS {self.wide_type})"

    def least(self, expression: str, limit: int) -> str:
        """The smaller of a wide integer and `limit`, as a 64-bit integer."""
        return f"CAST(CASE WHEN {expression} > {limit} THEN {limit} ELSE {expression} END AS BIGINT)"

    def whole(self, expression: str, kind: Kind) -> str | None:
        """The value as a 64-bit integer, missing unless it is whole; None for types that cannot be."""
        match kind:
            case Kind.INTEGER:
                return self.cast_whole(expression)
            case Kind.DECIMAL:
                return self.decimal_to_whole(expression)
            case Kind.FLOAT:
                inside = f"{expression} > -9007199254740992 AND {expression} < 9007199254740992"
                return self._whole_if(expression, inside)
            case Kind.BOOLEAN:
                return f"(CASE WHEN {expression} THEN 1 WHEN NOT {expression} THEN 0 END)"
            case Kind.TEXT:
                words = f"WHEN {expression} = 'true' THEN 1 WHEN {expression} = 'false' THEN 0"
                return f"(CASE {self._digits(expression)} {words} END)"
            case _:
                return None

    def beyond(self, expression: str, kind: Kind) -> str:
        """Whether a value is a whole number above all that `whole` reads."""
        match kind:
            case Kind.INTEGER:
                return f"{expression} > 9223372036854775807"
            case Kind.DECIMAL:  # by its text, as the widest casts and comparisons round or fail
                return self.matches(self.decimal_text(expression), self.beyond_pattern)
            case Kind.FLOAT:  # infinity less itself is no number, and NaN is the greatest of all
                return f"({expression} >= 9007199254740992 AND {expression} - {expression} = 0)"
            case Kind.TEXT:
                return self.matches(expression, self.beyond_pattern)
            case _:
                return "FALSE"

    def _whole_if(self, expression: str, inside: str) -> str:
        whole = f"FLOOR({expression}) = {expression}"
        cast = self.cast_whole(expression)
        return f"(CASE WHEN {inside} THEN CASE WHEN {whole} THEN {cast} END END)"

    def _digits(self, text: str) -> str:
        """The branch of a CASE for text that writes a whole number."""
        return f"WHEN {self.matches(text, self.whole_pattern)} THEN {self.text_to_whole(text)}"

    def decimal_to_whole(self, expression: str) -> str:
        """A decimal number as a 64-bit integer, missing unless it is whole and below 9.2 * 10^18."""
        return self._whole_if(expression, f"{expression} > -{_LARGEST} AND {expression} < {_LARGEST}")

    def decimal_text(self, expression: str) -> str:
        """A decimal number as text, one text for equal numbers: 7, 7.0 and 7.00 are one user."""
        text = self.cast_text(expression)
        return f"(CASE WHEN {text} LIKE '%.%' THEN rtrim(rtrim({text}, '0'), '.') ELSE {text} END)"

    @abstractmethod
    def text_to_whole(self, expression: str) -> str:
        """Text that matches `whole_pattern` as a 64-bit integer."""

    def text(self, expression: str, kind: Kind) -> str | None:
        """The value as text that is the same on every engine; None for types that cannot be."""
        match kind:
            case Kind.TEXT | Kind.INTEGER:
                return self.cast_text(expression)
            case Kind.BOOLEAN:
                return f"(CASE WHEN {expression} THEN 'true' WHEN NOT {expression} THEN 'false' END)"
            case Kind.DECIMAL | Kind.FLOAT:
                return self.cast_text(str(self.whole(expression, kind)))
            case Kind.DATE:
                inside = f"{expression} BETWEEN DATE '0001-01-01' AND DATE '9999-12-31'"
                return f"(CASE WHEN {inside} THEN {self.cast_text(expression)} END)"
            case _:
                return None


class DuckDialect(Dialect):
    """DuckDB: casts that give NULL instead of failing."""

    name = "duckdb"
    wide_type = "HUGEINT"

    def cast_whole(self, expression: str) -> str:
        """A whole number as a 64-bit integer; one that does not fit is missing."""
        return f"TRY_CAST({expression} AS BIGINT)"

    def narrow(self, expression: str, below: int) -> str:
        """A whole number from 0 to `below` - 1 in a small type."""
        return f"CAST({expression} AS UTINYINT)" if below <= 2**8 else super().narrow(expression, below)

    def matches(self, text: str, pattern: str) -> str:
        """Whether `text` matches a regular expression."""
        return f"regexp_matches({text}, {self.literal(pattern)})"

    def text_to_whole(self, expression: str) -> str:
        """Text that matches `whole_pattern` as a 64-bit integer."""
        pattern = self.literal(self.whole_pattern)
        digits = f"regexp_replace({expression}, {pattern}, '\\1\\2')"
        return f"TRY_CAST({digits} AS BIGINT)"

    def decimal_to_whole(self, expression: str) -> str:
        """A decimal number as a 64-bit integer; where no whole number fits its type, it is not whole."""
        cast = self.cast_whole(expression)
        inside = f"{cast} > -{_LARGEST} AND {cast} < {_LARGEST}"
        return f"(CASE WHEN TRY(FLOOR({expression}) = {expression}) AND {inside} THEN {cast} END)"

    def decimal_text(self, expression: str) -> str:
        """A decimal number as text, one text for equal numbers; DuckDB may leave out the 0 of 0.5."""
        text = f"regexp_replace({self.cast_text(expression)}, '^(-?)[.]', '\\10.')"
        return super().decimal_text(text)

    def hash_number(self, text: str) -> str:
        """The first 60 bits of the SHA-256 of a text's UTF-8 bytes, as a 64-bit integer."""
        return f"CAST('0x' || substr(sha256({text}), 1, 15) AS BIGINT)"

    def quotient(self, whole: str, part: str) -> str:
        """Whole-number division of integers >= 0, rounded down."""
        return f"(({whole}) // {part})"

    def moment(self, expression: str, kind: Kind) -> str:
        """A timestamp or a date as microseconds since 1970; what has none or does not fit is missing."""
        if kind is Kind.DATE:  # DuckDB takes the parts of the farthest date beforehand, outside of any TRY
            return f"epoch_us(TRY_CAST({expression} AS TIMESTAMP))"
        return f"TRY(epoch_us({expression}))"

    def text_moment(self, expression: str, zoned: bool) -> str:
        """Valid ISO 8601 text as microseconds since 1970."""
        return f"TRY(epoch_us(TRY_CAST({expression} AS {'TIMESTAMPTZ' if zoned else 'TIMESTAMP'})))"

    def day(self, days: str) -> str:
        """Days since 1970 as a date."""
        return f"(DATE '1970-01-01' + CAST({days} AS INTEGER))"
