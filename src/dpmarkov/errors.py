"""Every exception that dpmarkov raises on purpose.

::

    DpmarkovError
    ├── InputError (also ValueError)   what was given cannot be used; the command line exits with 2
    │   ├── StateSpaceError            states or a support that are not declared well
    │   ├── TableError                 a table is missing, unreadable or lacks a column
    │   ├── ParameterError             a number or an option outside what is allowed
    │   ├── UnitError                  the unit of privacy does not fit the data or the mechanism
    │   ├── ReleaseFormatError         a saved release that is damaged, foreign or too new
    │   └── ChainError                 the Markov chain lacks a property that the question needs
    └── EngineError                    a database, a disk or a solver failed part-way; exits with 1

A message says what was given, what is allowed and what to do next. No message depends on the content
of a sensitive row.
"""

__all__ = [
    "ChainError",
    "DpmarkovError",
    "EngineError",
    "InputError",
    "ParameterError",
    "ReleaseFormatError",
    "StateSpaceError",
    "TableError",
    "UnitError",
]


class DpmarkovError(Exception):
    """Base of all that dpmarkov raises on purpose."""


class InputError(DpmarkovError, ValueError):
    """What was given cannot be used; nothing was read, spent or written for it."""


class StateSpaceError(InputError):
    """States or a support that are not declared well."""


class TableError(InputError):
    """A table that is missing, unreadable or lacks a column."""


class ParameterError(InputError):
    """A number or an option outside what is allowed."""


class UnitError(InputError):
    """The unit of privacy does not fit the data or the mechanism."""


class ReleaseFormatError(InputError):
    """A saved release that is damaged, foreign or written by a newer version."""


class ChainError(InputError):
    """The Markov chain lacks a property that the question needs."""


class EngineError(DpmarkovError):
    """A database, a disk or a solver failed part-way; nothing was released."""
