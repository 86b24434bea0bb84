"""Plant each known fault in a copy of the code and see a test catch it: `python -m tests.planted_faults [NAME ...]`.

A test that cannot fail is a defect. Prints by which test each fault was caught; exit status 1 if one was not.
"""

import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Fault:
    name: str
    file: str
    right: str
    wrong: str
    tests: str


FAULTS = [
    Fault(
        "the reader dropped from the key's uniqueness",
        "feedback/idempotency.py",
        "WHERE reader_id = %s AND key = %s",
        "WHERE %s > 0 AND key = %s",
        "tests/test_idempotency.py",
    ),
    Fault(
        "an equal seq taken for a newer one",
        "feedback/verdicts.py",
        "if order.seq > kept:",
        "if order.seq >= kept:",
        "tests/test_feedback_api.py",
    ),
    Fault(
        "the version always moved",
        "feedback/services.py",
        "    if after != before:\n        return save_change",
        "    if True:\n        return save_change",
        "tests/test_feedback_concurrency.py",
    ),
    Fault(
        "the version never moved",
        "feedback/services.py",
        "interest_version + 1 WHERE",
        "interest_version + 0 WHERE",
        "tests/test_feedback_api.py",
    ),
    Fault(
        "the toggle decided outside the lock",
        "feedback/services.py",
        "return decide(row, wish, order)",
        "row.verdict = state.verdict\n        return decide(row, wish, order)",
        "tests/test_feedback_concurrency.py",
    ),
    Fault(
        "the recount removed",
        "feedback/services.py",
        "return state.like_rows if state.like_rows == state.like_count else recount_likes(article_id)",
        "return state.like_count",
        "tests/test_feedback_api.py",
    ),
    Fault(
        "a form without the field read as false",
        "feedback/serializers.py",
        "    return Wish(**asked) if asked else Wish(toggle=field)",
        "    return Wish(**asked) if asked else Wish(liked=False)",
        "tests/test_feedback_api.py",
    ),
    Fault(
        "the reply stored before the effect",
        "feedback/idempotency.py",
        "        return save_reply(row, fingerprint, action())",
        "        save_reply(row, fingerprint, Reply(200, '{}'))\n    return action()",
        "tests/test_idempotency.py",
    ),
    Fault(
        "a cut body taken for a toggle",
        "feedback/requests.py",
        "    if len(raw) < length:",
        "    if False:",
        "tests/test_feedback_bad_input.py",
    ),
    Fault(
        "the count read by the statement that waited for the lock",
        "feedback/counts.py",
        """        article = Article.objects.select_for_update(no_key=True).only("like_count").get(pk=article_id)
        likes = Feedback.objects.filter(article_id=article_id, verdict=Verdict.LIKED).count()
""",
        """        from django.db.models import Count, OuterRef, Subquery
        rows = Feedback.objects.filter(article_id=OuterRef("pk"), verdict=Verdict.LIKED).values("article").annotate(n=Count("pk"))
        held = Article.objects.select_for_update(no_key=True).annotate(n=Subquery(rows.values("n")))
        article = held.get(pk=article_id)
        likes = article.n or 0
""",
        "tests/test_recount.py",
    ),
]


def plant(fault: Fault, folder: Path) -> None:
    file = folder / fault.file
    code = file.read_text()
    if fault.right not in code:
        raise SystemExit(f"{fault.name}: {fault.file} no longer has the line this fault replaces; bring the fault up to date.")
    file.write_text(code.replace(fault.right, fault.wrong))


def caught_by(fault: Fault) -> str | None:
    """The first test that fails with the fault planted, None if none does."""
    with tempfile.TemporaryDirectory(prefix="devpick-fault-") as name:
        folder = Path(name) / "copy"
        shutil.copytree(
            ROOT, folder, ignore=shutil.ignore_patterns(".venv", ".git", "var", "node_modules", "staticfiles", "*cache*")
        )
        plant(fault, folder)
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *fault.tests.split()]
        run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        failed = [line.split()[1] for line in run.stdout.splitlines() if line.startswith("FAILED ")]
        if run.returncode != (1 if failed else 0):  # an error before a test began catches nothing
            raise SystemExit(f"{fault.name}: the tests did not run:\n{run.stdout[-2000:]}{run.stderr[-2000:]}")
        return failed[0] if failed else None


def main(faults: list[Fault]) -> int:
    wanted = sys.argv[1:]
    missed = 0
    for fault in faults:
        if wanted and not any(word in fault.name for word in wanted):
            continue
        test = caught_by(fault)
        missed += test is None
        print(f"{'caught' if test else 'MISSED'}: {fault.name}: {test or 'no test failed'}", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(FAULTS))
