"""CSV files read line by line: one line is one record, whatever stands in it.

Nothing is sniffed: the delimiter follows from the file's name (tab for .tsv, else comma) or is given, the
first line names the columns, every field is text. Each line is taken apart on its own, so that no record can
swallow or shift another, as an unclosed quote does in other readers. A field may be quoted, with quotes in it
doubled, but must end on its line; the empty field is missing; a line with another number of fields, with
bytes that are no UTF-8 or of more than 16 MiB is dropped. A line ends with LF, CR or both, wherever they
stand; a blank one is no record.
"""

import csv
import gzip
from collections.abc import Sequence
from pathlib import Path

from dpmarkov.errors import ParameterError, TableError
from dpmarkov.events.dialect import Dialect

__all__ = ["count_lines", "csv_header", "csv_relation", "delimiter_of"]

_LONGEST = 16 * 2**20


def delimiter_of(path: Path, given: str | None) -> str:
    """The field delimiter of a file."""
    if given is not None:
        if len(given) != 1 or given in '"\r\n' or not given.isascii() or given == "\0":
            raise ParameterError(
                f"the delimiter must be one ASCII character other than a quote; got {given!r}"
            )
        return given
    return "\t" if ".tsv" in path.name.lower() else ","


def csv_header(path: Path, delimiter: str) -> list[str]:
    """The column names in a CSV file's first line."""
    try:
        opener = gzip.open if path.name.lower().endswith(".gz") else open
        with opener(path, "rb") as file:
            line = file.readline(_LONGEST)
    except (OSError, EOFError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "it is damaged"
        raise TableError(f"{path} cannot be read: {reason}") from None
    text = line.decode("utf-8-sig", errors="replace").split("\r")[0].rstrip("\n")
    names = next(csv.reader([text], delimiter=delimiter), [])
    if not names:
        raise TableError(f"{path} has no header: the first line of a CSV file must name its columns")
    return names


def count_lines(path: Path) -> int:
    """How many lines stand below a file's header, read or not; blank ones do not count."""
    opener = gzip.open if path.name.lower().endswith(".gz") else open
    with opener(path, "rt", encoding="latin-1") as file:
        return sum(1 for line in file if line != "\n") - 1


def csv_relation(
    paths: Sequence[str], names: Sequence[str], wanted: Sequence[str], delimiter: str, compression: str
) -> str:
    """SQL for the wanted columns of CSV files with one header, named c0, c1, ...; DuckDB's own words."""
    literal = Dialect.literal
    for name in wanted:
        if names.count(name) > 1:
            raise TableError(f"{paths[0]} names column {name!r} more than once")
    files = ", ".join(literal(path) for path in paths)
    lines = (
        f"SELECT line FROM read_csv([{files}], columns = {{'line': 'VARCHAR'}}, auto_detect = false, "
        f"header = false, skip = 1, delim = '', quote = '', escape = '', ignore_errors = true, "
        # Lines are not guessed from the header's end, or a lone CR would eat what follows it.
        f"strict_mode = false, new_line = '\\n', max_line_size = {_LONGEST}, compression = '{compression}')"
    )
    # Lines without a quote are the rule and split fast; the others must match the grammar from end to end.
    special = "\\" + delimiter if not delimiter.isalnum() else delimiter
    plain = f'(?:"(?:[^"]|"")*"|[^"{special}]*)'
    split = f"string_split(line, {literal(delimiter)})"
    fields = []
    fits = literal("^" + special.join([plain] * len(names)) + "$")
    simple = f"len(fields) = {len(names)}"
    whole = f"CASE WHEN contains(line, '\"') THEN regexp_matches(line, {fits}) ELSE {simple} END"
    for i, name in enumerate(wanted):
        at = names.index(name)
        parts = [plain] * len(names)
        parts[at] = f"({plain})"
        pattern = literal("^" + special.join(parts) + "$")
        quoted = f"regexp_extract(line, {pattern}, 1)"
        unquoted = (
            f"CASE WHEN starts_with({quoted}, '\"') "
            f"THEN replace(substr({quoted}, 2, length({quoted}) - 2), '\"\"', '\"') ELSE {quoted} END"
        )
        field = f"CASE WHEN contains(line, '\"') THEN {unquoted} ELSE fields[{at + 1}] END"
        fields.append(f"nullif({field}, '') AS c{i}")
    return f"(SELECT {', '.join(fields)} FROM (SELECT line, {split} AS fields FROM ({lines})) WHERE {whole})"
