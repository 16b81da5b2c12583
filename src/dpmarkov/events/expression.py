"""A group that an SQL expression computes from the columns of its own row.

The expression must depend on its row alone. If it looked at other rows (an aggregate, a window, a subquery),
one event more could move all others to other groups; if it drew numbers, so could anything. So it is taken
apart by DuckDB's parser, and only what is known to be harmless passes; the SQL that runs is written anew from
those parts. A row for which it fails (a cast that does not fit, a division by zero) has no group.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import duckdb

from dpmarkov.errors import ParameterError

__all__ = ["Expression", "is_expression", "parse_expression"]

_CLASSES = frozenset(
    {"CASE", "CAST", "COLUMN_REF", "COMPARISON", "CONJUNCTION", "CONSTANT", "FUNCTION", "OPERATOR"}
    | {"BETWEEN", "TYPE"}
)
_OPERATORS = frozenset(
    {"OPERATOR_NOT", "OPERATOR_IS_NULL", "OPERATOR_IS_NOT_NULL", "OPERATOR_COALESCE", "OPERATOR_TRY"}
    | {"COMPARE_IN", "COMPARE_NOT_IN"}
)
# All of them are of bounded cost in the size of a row: nothing that a row holds can use up the memory.
_FUNCTIONS = frozenset(
    {"+", "-", "*", "/", "//", "%", "||", "~~", "!~~", "~~*", "!~~*", "abs", "floor", "ceil", "ceiling"}
    | {"round", "trunc", "sign", "greatest", "least", "mod", "nullif", "ifnull", "concat", "lower", "upper"}
    | {"trim", "ltrim", "rtrim", "substr", "substring", "left", "right", "length", "strlen", "starts_with"}
    | {"ends_with", "contains", "prefix", "suffix", "split_part", "regexp_matches", "regexp_extract"}
    | {"year", "quarter", "month", "week", "weekday", "dayofweek", "isodow", "dayofyear", "day", "hour"}
    | {"minute", "second", "date_part", "date_trunc", "epoch", "monthname", "dayname"}
)
_TYPES = frozenset(
    {"BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "FLOAT"}
    | {"DOUBLE", "DECIMAL", "VARCHAR", "DATE", "TIMESTAMP", "TIMESTAMPTZ", "TIMESTAMP WITH TIME ZONE"}
)


_PARTS = frozenset(
    {"year", "quarter", "month", "week", "day", "hour", "minute", "second", "epoch", "isoyear", "decade"}
    | {"century", "millennium", "weekday", "dayofweek", "dow", "isodow", "dayofyear", "doy"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Expression:
    """An expression that passed: its words, the columns it reads and the functions it calls."""

    words: str
    columns: tuple[str, ...]
    functions: tuple[str, ...]

    def sql(self, names: dict[str, str]) -> str:
        """SQL in which every column has the plain name that `names` gives it; missing where it fails."""
        statement = _parsed(self.words)
        _check(statement["statements"][0]["node"]["select_list"][0], self.words, [], [], names)
        with duckdb.connect() as connection:
            written = _first(connection, "SELECT json_deserialize_sql(?::JSON)", [json.dumps(statement)])
        return f"TRY({written.removeprefix('SELECT ')})"


def is_expression(by: str) -> bool:
    """Whether `by` is an expression: it begins with a call, or stands in brackets."""
    return re.match(r"^(\w+\(.*|\(.*\))$", by, re.DOTALL) is not None


def parse_expression(by: str) -> Expression:
    """Take an expression apart and refuse what could look beyond its row."""
    statement = _parsed(by)
    columns: list[str] = []
    functions: list[str] = []
    _check(statement["statements"][0]["node"]["select_list"][0], by, columns, functions, None)
    if not columns:
        raise ParameterError(f"by={by!r} names no column, so all rows would be in one group")
    return Expression(
        words=by, columns=tuple(dict.fromkeys(columns)), functions=tuple(dict.fromkeys(functions))
    )


def _parsed(by: str) -> Any:
    with duckdb.connect() as connection:
        plain = json.loads(_first(connection, "SELECT json_serialize_sql('SELECT (1)')", []))
        found = json.loads(_first(connection, "SELECT json_serialize_sql(?)", [f"SELECT ({by}\n)"]))
    if found.get("error") or len(found["statements"]) != 1:
        raise _refused(by, "it is no SQL expression")
    rest = []
    for statement in (plain, found):
        node = dict(statement["statements"][0]["node"])
        chosen = node.pop("select_list", [])
        rest.append(json.dumps(node, sort_keys=True))
    if rest[0] != rest[1] or len(chosen) != 1:
        raise _refused(by, "it is more than one expression")
    return found


def _first(connection: Any, sql: str, values: Sequence[str]) -> str:
    return str(connection.execute(sql, values).fetchone()[0])


def _check(
    node: Any, by: str, columns: list[str], functions: list[str], names: dict[str, str] | None
) -> None:
    """Walk through the parts; with `names`, give the columns their plain names on the way."""
    if isinstance(node, list):
        for part in node:
            _check(part, by, columns, functions, names)
    if not isinstance(node, dict):
        return
    kind = node.get("class")
    if kind is not None and kind not in _CLASSES:
        raise _refused(by, f"it has a part of the kind {kind.lower()}")
    if kind == "OPERATOR" and node["type"] not in _OPERATORS:
        raise _refused(by, f"it has the operator {node['type'].lower()}")
    if kind == "FUNCTION":
        name = str(node["function_name"]).lower()
        if name not in _FUNCTIONS or node["schema"] or node["catalog"]:
            raise _refused(by, f"the function {name} is not among the known ones")
        if node["filter"] is not None or node["distinct"] or node["order_bys"]["orders"]:
            raise _refused(by, "it has the clauses of an aggregate")
        # A part that a row names, or that no type has, would fail outside of any TRY.
        if name in ("date_part", "date_trunc") and _first_constant(node).lower() not in _PARTS:
            raise _refused(by, f"{name} needs one of the parts {', '.join(sorted(_PARTS))}")
        functions.append(name)
    if kind == "CAST":
        wanted = node.get("type_expr") or node["cast_type"]
        name = str(wanted.get("type_name") or wanted.get("id"))
        if name.upper() not in _TYPES or wanted.get("schema") or wanted.get("catalog"):
            raise _refused(by, f"the type {name.lower()} is not among the known ones")
    if kind == "COLUMN_REF":
        if len(node["column_names"]) != 1:
            raise _refused(by, "a column has a single name, in double quotes if it holds dots or blanks")
        columns.append(str(node["column_names"][0]))
        if names is not None:
            node["column_names"] = [names[columns[-1]]]
    for part in node.values():
        _check(part, by, columns, functions, names)


def _first_constant(call: Any) -> str:
    """The first argument of a call, where it is a constant; as DuckDB 2 writes it, or DuckDB 1."""
    argument = (call.get("arguments") or call.get("children") or [{}])[0]
    argument = argument.get("expression", argument)
    constant = argument.get("literal") or argument.get("value") or {}
    return str(constant.get("text", constant.get("value")))


def _refused(by: str, reason: str) -> ParameterError:
    return ParameterError(
        f"by={by!r} cannot be a group: {reason}. A group is a column, or an expression over the columns of "
        "its own row: arithmetic, comparisons, CASE, casts, and functions of text and time. An aggregate, a "
        "window or a random number would let one row move others to other groups. A column whose name looks "
        'like an expression is written ("its name")'
    )
