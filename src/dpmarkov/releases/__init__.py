"""The release: the private chain, its guarantee and its provenance; the only thing that leaves."""

from dpmarkov.releases.files import check_output, load
from dpmarkov.releases.make import release
from dpmarkov.releases.release import Release

__all__ = ["Release", "check_output", "load", "release"]
