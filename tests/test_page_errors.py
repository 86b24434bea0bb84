"""Failures as pages: whole, in words, and without what may be what failed."""

from typing import Any

import pytest
from django.db import OperationalError, connection
from django.test import Client, RequestFactory

from articles.models import User
from devpick.problems import not_found, server_error, unavailable_page
from tests.pages import page_of


def refuse_statements(*arguments: Any) -> None:
    raise OperationalError("the database is away")


def test_a_missing_page_has_a_way_back(client: Client, reader: User) -> None:
    client.force_login(reader)
    response = client.get("/articles/7/nothing")
    page = page_of(response)
    assert (response.status_code, page.one("h1").text) == (404, "There is no such page")
    assert page.one("a", class_="button main").attributes["href"] == "/"
    assert page.one("span", class_="name").text == reader.username


@pytest.mark.parametrize("render", [unavailable_page, server_error])
def test_a_failed_page_needs_neither_database_nor_session(render: Any) -> None:
    request = RequestFactory().get("/")
    response = render(request)
    page = page_of(response)
    assert response.status_code in (500, 503)
    assert (len(page.all("h1")), page.all("nav"), page.all("form")) == (1, [], [])


def test_a_page_whose_database_is_away_says_when_to_come_back(client: Client, reader: User) -> None:
    client.force_login(reader)
    with connection.execute_wrapper(refuse_statements):
        response = client.get("/")
    assert (response.status_code, response["Retry-After"]) == (503, "2")
    assert page_of(response).one("h1").text == "DevPick cannot answer right now"


def test_a_press_while_the_database_is_away_is_not_lost_silently(client: Client, reader: User, article: Any) -> None:
    client.force_login(reader)
    with connection.execute_wrapper(refuse_statements):
        response = client.post(
            f"/articles/{article.pk}/feedback",
            "liked=true&not_interested=false",
            content_type="application/x-www-form-urlencoded",
        )
    assert (response.status_code, response["Retry-After"]) == (503, "2")


def test_a_failed_log_in_on_our_side_leaves_nobody_half_logged_in(client: Client, reader: User) -> None:
    with connection.execute_wrapper(refuse_statements):
        response = client.post("/login/", {"username": reader.username, "password": "x"})
    assert (response.status_code, client.cookies.get("sessionid")) == (503, None)


def test_an_unforeseen_failure_is_a_page_without_a_stack_trace(reader: User) -> None:
    client = Client(raise_request_exception=False)
    client.force_login(reader)
    with connection.execute_wrapper(fail_strangely):
        response = client.get("/")
    assert (response.status_code, "Traceback" in response.content.decode()) == (500, False)
    assert page_of(response).one("h1").text == "Something went wrong on our side"


def fail_strangely(*arguments: Any) -> None:
    raise ZeroDivisionError


def test_not_found_works_for_a_request_without_a_user() -> None:
    response = not_found(RequestFactory().get("/x"), Exception())
    assert (response.status_code, page_of(response).one("h1").text) == (404, "There is no such page")


@pytest.mark.parametrize("address", ["/api/articles/0.5/like/", "/api/articles/7%0A7/like/"])
@pytest.mark.parametrize("method", ["get", "put", "post", "delete"])
def test_a_wrong_address_of_the_api_is_a_problem_document_whatever_the_method(db: None, method: str, address: str) -> None:
    answer = getattr(Client(enforce_csrf_checks=True), method)(address)
    assert (answer.status_code, answer["Content-Type"]) == (404, "application/problem+json")
    assert answer.json()["code"] == "not_found"


def test_what_browsers_and_crawlers_ask_for_is_there(client: Client, db: None) -> None:
    assert client.get("/favicon.ico")["Location"].startswith("/static/img/favicon.")
    robots = client.get("/robots.txt")
    assert (robots.status_code, robots["Content-Type"]) == (200, "text/plain; charset=utf-8")
    # The list may be read, but no crawler walks through all its filters and places.
    assert robots.content.startswith(b"User-agent: *\nDisallow: /*?\n")


@pytest.mark.parametrize("body", ["username=a", "a=&" * 1100], ids=["another charset", "too many fields"])
def test_a_form_that_cannot_be_read_is_a_whole_page(client: Client, db: None, body: str) -> None:
    charset = "utf-16" if body == "username=a" else "utf-8"
    response = client.post("/login/", body, content_type=f"application/x-www-form-urlencoded; charset={charset}")
    page = page_of(response)
    assert (response.status_code, page.one("h1").text) == (400, "This request could not be read")
    assert page.one("a", class_="button main").attributes["href"] == "/"
