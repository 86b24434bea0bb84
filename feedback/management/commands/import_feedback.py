"""manage.py import_feedback USERNAME FILE: bring a reader's verdicts to those of an exported file."""

import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils.translation import gettext as _

from articles.management.readers import reader_named
from feedback.exports import MEDIA_TYPES
from feedback.import_files import MAX_BYTES, BadFile, Line, read_lines
from feedback.imports import Report, apply_lines

PROGRESS_EVERY = 100


class Command(BaseCommand):
    help = "Apply an exported file, oldest line first. Running it again does no harm. Exit status 1 if lines are invalid."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username")
        parser.add_argument("file", type=Path)
        parser.add_argument("--format", choices=list(MEDIA_TYPES), help="unless the file's name ends in .csv or .json")

    def handle(self, *, username: str, file: Path, format: str | None, **options: Any) -> None:
        reader = reader_named(username)
        lines = lines_of(file, format or ("csv" if file.suffix.lower() == ".csv" else "json"))
        report = Report(len(lines))
        for outcome in apply_lines(reader.pk, lines):
            report.add(outcome)
            self.progress(report)
        self.tell(report)

    def progress(self, report: Report) -> None:
        if self.stdout.isatty() and (report.done % PROGRESS_EVERY == 0 or report.done == report.total):
            self.stdout.write(f"\r{report.done}/{report.total}", ending="\n" if report.done == report.total else "")
            self.stdout.flush()

    def tell(self, report: Report) -> None:
        for remark in report.remarks:
            self.stderr.write(f"{remark.number}: {remark.reason}")
        if report.left_out:
            self.stderr.write(_("… and %(count)s more.") % {"count": report.left_out})
        counts = {kind: report.counts[kind] for kind in ("changed", "unchanged", "unknown", "invalid")}
        self.stdout.write(_("%(changed)s changed, %(unchanged)s unchanged, %(unknown)s unknown, %(invalid)s invalid") % counts)
        if report.counts["invalid"]:
            sys.exit(1)


def lines_of(file: Path, kind: str) -> list[Line]:
    try:
        with file.open("rb") as opened:
            return read_lines(opened.read(MAX_BYTES + 1), kind)  # one byte more, so that the reader sees that it is too large
    except OSError as failure:
        raise CommandError(_("%(file)s: %(reason)s.") % {"file": file, "reason": failure.strerror}) from None
    except BadFile as failure:
        raise CommandError(str(failure)) from None
