"""A reader's data by its page: export links, and an import whose page tells how far it is, without JavaScript."""

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import OperationalError, connection
from django.http import HttpResponse
from django.test import Client, override_settings

from articles.models import Article, User
from feedback import data_pages, import_files
from feedback.models import Feedback
from tests.factories import ArticleFactory
from tests.pages import Element, page_of

ADDRESS = "/account/data/"


@pytest.fixture
def mine(client: Client, reader: User, other_reader: User) -> Client:
    client.force_login(reader)
    return client


def file_of(articles: list[Article], **said: bool) -> SimpleUploadedFile:
    verdicts = [{"url": article.url, "liked": True, "not_interested": False} | said for article in articles]
    return SimpleUploadedFile("verdicts.json", json.dumps({"verdicts": verdicts}).encode())


def upload(client: Client, file: Any) -> Element:
    response: Any = client.post(ADDRESS, {"file": file})
    whole = HttpResponse(b"".join(response.streaming_content) if response.streaming else response.content)
    return page_of(whole)


def counts(page: Element) -> list[str]:
    return [item.text for item in page.one("div", class_="progress").all("li")]


def test_the_page_exports_and_imports(mine: Client, reader: User, other_reader: User) -> None:
    page = page_of(mine.get(ADDRESS))
    links = [link.attributes["href"] for link in page.all("a", class_="button")]
    assert links == ["/api/feedback/export?format=json", "/api/feedback/export?format=csv"]
    articles = ArticleFactory.create_batch(3)
    told = upload(mine, file_of(articles))
    assert counts(told)[:2] == ["3 changed", "0 unchanged, they were so already"]
    exported: Any = mine.get(links[1])
    assert b"".join(exported.streaming_content).count(b"true,false") == 3
    again = upload(mine, SimpleUploadedFile("v.CSV", b"".join(mine.get(links[1]).streaming_content)))  # type: ignore[attr-defined]
    assert counts(again)[:2] == ["0 changed", "3 unchanged, they were so already"]
    assert set(Feedback.objects.values_list("profile_id", flat=True)) == {reader.pk}


def test_the_page_comes_in_pieces_that_tell_how_far_it_is(mine: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data_pages, "LINES_A_STEP", 2)
    response: Any = mine.post(ADDRESS, {"file": file_of(ArticleFactory.create_batch(5))})
    pieces = [piece.decode() for piece in response.streaming_content]
    assert [" ".join(piece.split()) for piece in pieces[1:3]] == ['<p class="step">2 of 5 …</p>', '<p class="step">4 of 5 …</p>']
    assert (len(pieces), "Done: 5 verdicts." in pieces[3]) == (5, True)


def test_what_was_left_out_is_named(mine: Client, article: Article) -> None:
    file = {"verdicts": [17, {"url": "https://elsewhere.example/<b>", "liked": True, "not_interested": False}]}
    page = upload(mine, SimpleUploadedFile("v.json", json.dumps(file).encode()))
    assert counts(page)[2:] == [
        "1 of articles that are not here",
        "1 that could not be read",
        "Verdict 1: This is not one verdict with its members.",
        "Verdict 2: There is no such article here: https://elsewhere.example/<b>",
    ]


@pytest.mark.parametrize(
    ("file", "told"),
    [
        (None, "Choose a file first."),
        (SimpleUploadedFile("v.json", b"{"), "The file is not valid JSON."),
        (SimpleUploadedFile("v.csv", b"a,b\n"), "The first line must name the columns"),
    ],
)
def test_a_file_that_cannot_be_used_leads_back_to_the_form(mine: Client, file: Any, told: str) -> None:
    response = mine.post(ADDRESS, {"file": file} if file else {})
    page = page_of(response)
    assert (response.status_code, len(page.all("input", type="file"))) == (400, 1)
    assert told in page.one("div", class_="box bad").text


def test_a_file_that_is_too_large_is_not_even_read(mine: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data_pages, "MAX_BYTES", 10)
    monkeypatch.setattr(data_pages, "FORM_BYTES", 100)
    response = mine.post(ADDRESS, {"file": SimpleUploadedFile("v.json", b"x" * 1000)})
    assert (response.status_code, page_of(response).one("h1").text) == (413, "This file is too large")
    monkeypatch.undo()
    monkeypatch.setattr(import_files, "MAX_BYTES", 10)
    assert mine.post(ADDRESS, {"file": SimpleUploadedFile("v.json", b"x" * 20)}).status_code == 400


def test_a_database_that_goes_away_in_the_middle_is_told_and_the_file_can_be_sent_again(mine: Client, reader: User) -> None:
    articles = ArticleFactory.create_batch(4)
    left = [2]

    def go_away(execute: Any, sql: str, *arguments: Any) -> Any:
        if "article.like_count" in sql:
            left[0] -= 1
        if left[0] < 0:
            raise OperationalError("gone")
        return execute(sql, *arguments)

    with connection.execute_wrapper(go_away):
        page = upload(mine, file_of(articles))
    assert "after 2 of 4 verdicts" in page.one("div", class_="box bad").text
    assert counts(upload(mine, file_of(articles)))[:2] == ["2 changed", "2 unchanged, they were so already"]


def test_the_page_is_for_readers_with_their_csrf_token_and_limited(client: Client, reader: User, article: Article) -> None:
    assert client.get(ADDRESS)["Location"] == f"/login/?next={ADDRESS}"
    assert client.post(ADDRESS, {"file": file_of([article])}).status_code == 302
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(reader)
    assert strict.post(ADDRESS, {"file": file_of([article])}).status_code == 403
    client.force_login(reader)
    with override_settings(LIMITS={"import-reader": 0}):
        assert client.post(ADDRESS, {"file": file_of([article])}).status_code == 429
    assert not Feedback.objects.exists()


def test_a_body_in_chunks_is_refused_in_words(client: Client, db: None) -> None:
    answer = client.generic("POST", ADDRESS, b"", CONTENT_LENGTH="", HTTP_TRANSFER_ENCODING="chunked")
    assert answer.status_code == 411
    assert page_of(answer).one("h1").text == "This file could not be read"
