"""A file of verdicts, brought about line by line: desired states, so that sending the file again never does harm.

Each line is one `apply_feedback`, one transaction: many verdicts in one transaction deadlock beside an ordinary save.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from django.core.exceptions import ObjectDoesNotExist
from django.db import IntegrityError
from django.utils.translation import gettext as _

from articles.feeds.links import address_key
from articles.models import Article
from feedback.import_files import Line
from feedback.services import apply_feedback

LOOKED_UP_AT_ONCE = 500
REMARKS_KEPT = 100


@dataclass(frozen=True)
class Outcome:
    """What became of one line: "changed", "unchanged", "unknown" (no such article here) or "invalid"."""

    number: int
    kind: str
    reason: str = ""


@dataclass
class Report:
    """The outcomes so far, and what is to say of single lines (the first hundred remarks)."""

    total: int
    counts: Counter[str] = field(default_factory=Counter)
    remarks: list[Outcome] = field(default_factory=list)

    def add(self, outcome: Outcome) -> None:
        self.counts[outcome.kind] += 1
        if outcome.reason and len(self.remarks) < REMARKS_KEPT:
            self.remarks.append(outcome)

    @property
    def done(self) -> int:
        return self.counts.total()

    @property
    def left_out(self) -> int:
        """Remarks that are counted but not listed."""
        return self.counts["unknown"] + self.counts["invalid"] - len(self.remarks)


def apply_lines(profile_id: int, lines: Sequence[Line]) -> Iterator[Outcome]:
    """Bring the lines about in their order. `profile_id` is the reader's user id.

    A database that is away or busy raises OperationalError in the middle: what was applied stays, the file can be sent again.
    """
    for start in range(0, len(lines), LOOKED_UP_AT_ONCE):
        batch = lines[start : start + LOOKED_UP_AT_ONCE]
        articles = articles_of(batch)
        for line in batch:
            yield apply_line(profile_id, line, articles.get(line.number))


def articles_of(lines: Sequence[Line]) -> dict[int, int]:
    """Article ids by line number. An address fits every installation; the id counts only where a line has no address."""
    keys = {line.number: keys_of(line.url) for line in lines if line.url}
    found = Article.objects.filter(address_key__in={key for both in keys.values() for key in both})
    ids = dict(found.values_list("address_key", "pk"))
    by_id = {line.number: line.article for line in lines if not line.url and line.article is not None}
    return by_id | {number: ids[key] for number, both in keys.items() for key in reversed(both) if key in ids}


def keys_of(url: str) -> list[str]:
    """The page's part is an article of its own in some feeds; the whole page else."""
    return [address_key(url, with_fragment=True), address_key(url)]


def apply_line(profile_id: int, line: Line, article_id: int | None) -> Outcome:
    if line.wrong:
        return Outcome(line.number, "invalid", line.wrong)
    try:
        if article_id is None:
            raise Article.DoesNotExist
        result = apply_feedback(profile_id=profile_id, article_id=article_id, wish=line.wish)
    except (ObjectDoesNotExist, IntegrityError):  # or deleted a moment ago
        return Outcome(line.number, "unknown", _("There is no such article here: %s") % (line.url or line.article))
    return Outcome(line.number, "changed" if result.changed else "unchanged")
