"""Figures and the report: what a release says, for people. Made from public data alone."""

from dpmarkov.report import figures
from dpmarkov.report.page import report_html, write_report

__all__ = ["figures", "report_html", "write_report"]
