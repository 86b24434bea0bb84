"""A reader's verdicts taken along: export, import, and that the one undoes the other."""

import csv
import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError, connection
from django.test import override_settings
from rest_framework.test import APIClient

from articles.models import Article, User
from feedback import import_files, own_api
from feedback.models import Feedback
from feedback.services import apply_feedback
from feedback.verdicts import Wish
from tests.conftest import client_of
from tests.factories import ArticleFactory, UserFactory

EXPORT, IMPORT = "/api/feedback/export/", "/api/feedback/import/"
NOBODY_HAS = "https://elsewhere.example/unknown"


def say(reader: User, article: Article, **wish: bool) -> None:
    apply_feedback(profile_id=reader.pk, article_id=article.pk, wish=Wish(**wish))


def text_of(response: Any) -> str:
    assert response.status_code == 200
    return b"".join(response.streaming_content).decode()


def verdict(article: Article, reader: User, **said: bool) -> dict[str, Any]:
    row = Feedback.objects.get(article=article, profile_id=reader.pk)
    assert row.marked_at
    state = {"liked": False, "not_interested": False} | said
    return {"article": article.pk, "url": article.url, **state, "marked_at": row.marked_at.isoformat()}


def word(value: bool) -> str:
    return "true" if value else "false"


def line(article: Article | str, /, **said: Any) -> dict[str, Any]:
    url = article if isinstance(article, str) else article.url
    return {"url": url, "liked": False, "not_interested": False} | said


def send(api: APIClient, verdicts: list[Any], query: str = "") -> Any:
    return api.post(IMPORT + query, {"verdicts": verdicts}, format="json")


def report(**counts: Any) -> dict[str, Any]:
    empty = {"changed": 0, "unchanged": 0, "unknown": 0, "invalid": 0, "remarks": [], "next": None}
    told = empty | counts
    return {"total": sum(told[kind] for kind in ("changed", "unchanged", "unknown", "invalid")), **told}


def verdicts_of(reader: User) -> list[tuple[int, str]]:
    """In the order of the lists: the last said first."""
    rows = Feedback.objects.filter(profile_id=reader.pk).exclude(verdict="").order_by("-marked_at", "-pk")
    return list(rows.values_list("article_id", "verdict"))


def like_counts() -> list[tuple[int, int]]:
    return list(Article.objects.order_by("pk").values_list("pk", "like_count"))


@pytest.fixture
def said(reader: User, other_reader: User) -> list[Article]:
    """One liked, one refused, one taken back; the second reader says the opposite."""
    liked, refused, undone = articles = ArticleFactory.create_batch(3)
    say(reader, undone, liked=True)
    say(reader, refused, not_interested=True)
    say(reader, liked, liked=True)
    say(reader, undone, liked=False)
    say(other_reader, refused, liked=True)
    return articles


class TestExport:
    @pytest.mark.parametrize("address", [EXPORT, "/api/feedback/export?format=json"])
    def test_json_has_every_verdict_oldest_first_and_nothing_else(self, said, reader, api, address):
        response = api.get(address)
        wanted = [verdict(said[1], reader, not_interested=True), verdict(said[0], reader, liked=True)]
        text = text_of(response)
        assert json.loads(text) == {"verdicts": wanted}
        assert len(text.splitlines()) == 4
        assert (response["Content-Type"], response["Cache-Control"]) == ("application/json; charset=utf-8", "no-store")
        assert response["Content-Disposition"].startswith('attachment; filename="devpick-verdicts-20')

    def test_csv_has_the_same(self, said, reader, api):
        response = api.get(EXPORT + "?format=csv")
        rows = list(csv.DictReader(StringIO(text_of(response))))
        wanted = [verdict(said[1], reader, not_interested=True), verdict(said[0], reader, liked=True)]
        assert rows == [
            {name: str(value).lower() if name != "marked_at" else value for name, value in row.items()} for row in wanted
        ]
        assert response["Content-Type"] == "text/csv; charset=utf-8"

    def test_of_nothing_is_an_empty_file(self, api, other_api, said):
        nobody = client_of(UserFactory())
        assert json.loads(text_of(nobody.get(EXPORT))) == {"verdicts": []}
        assert text_of(nobody.get(EXPORT + "?format=csv")) == "article,url,liked,not_interested,marked_at\r\n"

    @pytest.mark.parametrize("query", ["?format=xml", "?format=", "?format=csv&format=csv"])
    def test_another_format_is_refused(self, api, query):
        answer = api.get(EXPORT + query)
        assert (answer.status_code, list(answer.json()["errors"])) == (400, ["format"])

    def test_needs_a_reader(self, anonymous_api):
        assert anonymous_api.get(EXPORT).json()["code"] == "not_authenticated"

    def test_a_database_that_is_away_is_503(self, said, api):
        def refuse(execute, sql, *arguments):
            if "feedback_feedback" in sql:
                raise OperationalError
            return execute(sql, *arguments)

        with connection.execute_wrapper(refuse):
            assert api.get(EXPORT).status_code == 503

    def test_is_two_statements_however_long(self, said, api, django_assert_num_queries):
        with django_assert_num_queries(2):
            text_of(api.get(EXPORT))


@pytest.mark.parametrize("kind", ["json", "csv"])
def test_import_into_an_empty_account_gives_the_same_verdicts_counts_and_order(reader, other_reader, api, kind):
    articles = ArticleFactory.create_batch(30)
    for number, article in enumerate(articles):
        say(reader, article, liked=number % 3 == 0, not_interested=number % 3 == 1)
        say(other_reader, article, liked=number % 2 == 0)
    say(reader, articles[3], not_interested=True)
    counts, fresh = like_counts(), UserFactory()
    file = text_of(api.get(f"{EXPORT}?format={kind}"))
    client = client_of(fresh)
    mine = verdicts_of(reader)

    def post() -> Any:
        return client.post(IMPORT, file, content_type={"json": "application/json", "csv": "text/csv"}[kind]).json()

    assert post() == report(changed=20)
    assert verdicts_of(fresh) == mine
    likes = {article for article, said in mine if said == "liked"}
    assert like_counts() == [(article, count + (article in likes)) for article, count in counts]
    before = list(Feedback.objects.order_by("pk").values())
    assert post() == report(unchanged=20)
    assert list(Feedback.objects.order_by("pk").values()) == before


def test_an_article_is_known_by_its_address_and_not_by_a_foreign_number(reader, other_reader, api):
    here, other = ArticleFactory(url="https://blog.example/post"), ArticleFactory()
    variants = [
        line("http://blog.example/post/?utm_source=rss#part-2", article=other.pk, liked=True),
        line(NOBODY_HAS, article=other.pk, liked=True),
        {"article": other.pk, "liked": False, "not_interested": True},
    ]
    unknown = {"number": 2, "kind": "unknown", "reason": f"There is no such article here: {NOBODY_HAS}"}
    assert send(api, variants).json() == report(changed=2, unknown=1, remarks=[unknown])
    assert sorted(verdicts_of(reader)) == [(here.pk, "liked"), (other.pk, "not_interested")]


def test_lines_are_applied_by_their_time_whatever_their_order(reader, other_reader, api):
    one, two = ArticleFactory.create_batch(2)
    dated = [(one, "2026-11-03T10:00:00+09:00"), (two, "2026-11-03T00:30:00Z"), (one, "2026-11-01T00:00:00Z")]
    lines = [line(article, liked=at < "2026-11-02", not_interested=at > "2026-11-02", marked_at=at) for article, at in dated]
    assert send(api, lines).json() == report(changed=3)
    assert verdicts_of(reader) == [(one.pk, "not_interested"), (two.pk, "not_interested")]


def test_a_desired_state_may_be_that_nothing_is_said(said, reader, other_reader, api):
    assert send(api, [line(said[0]), line(said[1]), line(said[2])]).json() == report(changed=2, unchanged=1)
    assert (verdicts_of(reader), len(verdicts_of(other_reader))) == ([], 1)


BROKEN = [
    (17, "This is not one verdict with its members."),
    (line("https://a.example/") | {"liked": "true"}, "liked and not_interested must both be there, each true or false."),
    ({"url": "https://a.example/", "liked": True}, "liked and not_interested must both be there, each true or false."),
    (line("https://a.example/", liked=True, not_interested=True), "An article cannot be liked and not interesting at once."),
    ({"liked": True, "not_interested": False}, "Name the article by its url."),
    (line("javascript:alert(1)"), "url must be a web address."),
    (line("https://a.example/", url=7), "url must be a web address."),
    (line("https://a.example/", article=True), "article must be the number of an article."),
    (line("https://a.example/", article=-1), "article must be the number of an article."),
    (line("https://a.example/", marked_at="yesterday"), "marked_at must be a time such as 2026-11-30T12:00:00Z."),
    (line("https://a.example/", marked_at="2026-11-30T12:00:00"), "marked_at must be a time such as 2026-11-30T12:00:00Z."),
    (line("https://a.example/", marked_at="2026-13-40T12:00:00Z"), "marked_at must be a time such as 2026-11-30T12:00:00Z."),
]


def test_broken_lines_are_named_and_the_others_are_saved(reader, other_reader, api, article):
    lines = [line(article, liked=True)] + [record for record, _reason in BROKEN]
    remarks = [{"number": n, "kind": "invalid", "reason": reason} for n, (_record, reason) in enumerate(BROKEN, 2)]
    assert send(api, lines).json() == report(changed=1, invalid=len(BROKEN), remarks=remarks)
    assert verdicts_of(reader) == [(article.pk, "liked")]


def test_a_csv_line_that_is_too_long_or_wrong_is_named(api, other_reader, article):
    text = f"liked,not_interested,url\nTRUE,false,{article.url}\ntrue,false\nyes,false,{article.url}\n"
    answer = api.post(IMPORT, text, content_type="text/csv").json()
    assert (answer["changed"], answer["invalid"], [remark["number"] for remark in answer["remarks"]]) == (1, 2, [2, 3])


@pytest.mark.parametrize(
    ("body", "content_type", "status", "code"),
    [
        ("{", "application/json", 400, "parse_error"),
        ("[]", "application/json", 400, "parse_error"),
        ('{"verdicts": {}}', "application/json", 400, "parse_error"),
        ("", "application/json", 400, "parse_error"),
        ("", "", 400, "parse_error"),
        (b"\xff\xfe", "application/json", 400, "parse_error"),
        ("[" * 100_000, "application/json", 400, "parse_error"),
        ("", "text/csv", 400, "parse_error"),
        ("url,liked\n", "text/csv", 400, "parse_error"),
        ("url,liked,not_interested,liked\n", "text/csv", 400, "parse_error"),
        ('url,liked,not_interested\n"a', "text/csv", 400, "parse_error"),
        ("verdicts=1", "application/x-www-form-urlencoded", 415, "unsupported_media_type"),
        ("url,liked,not_interested\n", "text/csv; charset=shift_jis", 415, "unsupported_media_type"),
        ("x" * (import_files.MAX_BYTES + 1), "text/csv", 413, "body_too_large"),
    ],
)
def test_a_file_of_which_nothing_can_be_used_is_refused(api, body, content_type, status, code):
    answer = api.generic("POST", IMPORT, body, content_type)
    assert (answer.status_code, answer.json()["code"], answer["Cache-Control"]) == (status, code, "no-store")
    assert not Feedback.objects.exists()


def test_too_many_lines_are_refused(api, monkeypatch):
    monkeypatch.setattr(import_files, "MAX_LINES", 2)
    assert send(api, [line(NOBODY_HAS)] * 2).json()["unknown"] == 2
    answer = send(api, [line(NOBODY_HAS)] * 3)
    assert (answer.status_code, answer.json()["detail"]) == (400, "The file has more than 2 verdicts. Send it in parts.")


def test_a_long_file_takes_several_requests_with_the_same_body(reader, other_reader, api, monkeypatch):
    monkeypatch.setattr(own_api, "LINES_AT_ONCE", 2)
    articles = ArticleFactory.create_batch(5)
    lines = [line(article, liked=True) for article in articles]
    query, reports = "", []
    while query is not None:
        reports.append(send(api, lines, query).json())
        more = reports[-1]["next"]
        query = more and more.removeprefix(f"http://testserver{IMPORT}")
    assert [(told["total"], told["changed"], told["next"] is None) for told in reports] == [
        (5, 2, False),
        (5, 2, False),
        (5, 1, True),
    ]
    assert [article for article, _said in verdicts_of(reader)] == [article.pk for article in reversed(articles)]


@pytest.mark.parametrize("start", ["0", "3", "x", "-1", "", "1&start=1"])
def test_start_is_a_line_of_the_file(api, start):
    answer = send(api, [line(NOBODY_HAS)] * 2, f"?start={start}")
    assert (answer.status_code, list(answer.json()["errors"])) == (400, ["start"])


def test_an_empty_list_is_a_file(api):
    assert send(api, []).json() == report()


def test_at_most_a_hundred_remarks_are_listed(api):
    answer = send(api, [line(NOBODY_HAS)] * 150).json()
    assert (answer["unknown"], len(answer["remarks"])) == (150, 100)


def test_imports_are_limited(api, other_api, article):
    with override_settings(LIMITS={"write-reader": 9, "write-address": 9, "import-reader": 1}):
        answers = [send(client, [line(article, liked=True)]) for client in (api, api, other_api)]
    assert [answer.status_code for answer in answers] == [200, 429, 200]
    assert int(answers[1]["Retry-After"]) <= 60


def test_a_session_needs_its_csrf_token(reader, article):
    client = APIClient(enforce_csrf_checks=True)
    client.force_login(reader)
    answer = send(client, [line(article, liked=True)])
    assert (answer.status_code, answer.json()["code"]) == (403, "csrf_failed")
    client.get("/login/")
    long = [line(article, liked=True)] * 100  # longer than what the check may read
    token = client.get("/account/delete/").cookies["csrftoken"].value
    assert client.post(IMPORT, {"verdicts": long}, format="json", HTTP_X_CSRFTOKEN=token).json()["unchanged"] == 99


class TestCommands:
    @pytest.mark.parametrize("kind", ["json", "csv"])
    def test_a_file_goes_from_reader_to_reader(self, said, reader, tmp_path: Path, kind: str):
        fresh, file = UserFactory(), tmp_path / f"verdicts.{kind}"
        out = StringIO()
        call_command("export_feedback", reader.username, format=kind, stdout=out)
        file.write_text(out.getvalue(), newline="")
        told = StringIO()
        call_command("import_feedback", fresh.username, file, stdout=told)
        assert told.getvalue() == "2 changed, 0 unchanged, 0 unknown, 0 invalid\n"
        assert verdicts_of(fresh) == verdicts_of(reader)

    def test_remarks_are_told_and_invalid_lines_make_it_fail(self, reader, other_reader, tmp_path: Path):
        file = tmp_path / "verdicts.json"
        file.write_text(json.dumps({"verdicts": [line(NOBODY_HAS), 17]}))
        out, err = StringIO(), StringIO()
        with pytest.raises(SystemExit) as left:
            call_command("import_feedback", reader.username, file, stdout=out, stderr=err)
        assert (left.value.code, out.getvalue()) == (1, "0 changed, 0 unchanged, 1 unknown, 1 invalid\n")
        assert (
            err.getvalue().splitlines()
            == [
                f"1: There is no such article here: {NOBODY_HAS}",
                "2: This is not one verdict with its members.",
            ]
            or err.getvalue().splitlines()[::-1]
        )

    def test_what_cannot_be_read_is_said(self, reader, tmp_path: Path):
        missing, broken = tmp_path / "missing.json", tmp_path / "broken.json"
        broken.write_text("{")
        for arguments, told in (
            (("nobody", broken), "There is no reader named 'nobody'"),
            ((reader.username, missing), "No such file"),
            ((reader.username, broken), "The file is not valid JSON."),
        ):
            with pytest.raises(CommandError, match=told):
                call_command("import_feedback", *arguments)
        with pytest.raises(CommandError, match="There is no reader named 'nobody'"):
            call_command("export_feedback", "nobody")
