"""Every wrong request is a clear problem document, and nothing is written: neither a save nor, above all, a toggle."""

import json
from io import BytesIO
from typing import Any

import pytest
from django.db import OperationalError, connection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rest_framework.test import APIClient

from articles.models import Article, Profile, User
from feedback.models import Feedback, IdempotencyKey, Verdict
from tests.factories import FeedbackFactory, profile_of

JSON = "application/json"
FORM = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data; boundary=edge"


def part(name: str, value: str) -> str:
    return f'--edge\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'


WRONG_VALUES = [
    10**4000,
    None,
    "true",
    "false",
    0,
    1,
    1.0,
    2,
    "",
    "on",
    "yes",
    "f",
    "FALSE",
    "maybe",
    [],
    {},
    [True],
    {"liked": True},
]
WRONG_CLIENTS: list[Any] = ["short", "x" * 65, "with space", "ünicode1", 12345678, None]
WRONG_SEQS: list[Any] = [-1, 2**53, 1.5, 1.0, "7", True, None, []]
WRONG_JSON: list[tuple[Any, str]] = [
    *[({"liked": value}, "liked") for value in WRONG_VALUES],
    ({"liked": True, "not_interested": True}, "not_interested"),
    ({"liked": True, "not_interested": None}, "not_interested"),
    ({"not_interested": True}, "liked"),
    ({"liked": True, "client": "abcdefgh"}, "seq"),
    ({"liked": True, "seq": 5}, "client"),
    ({"client": "abcdefgh"}, "seq"),
    *[
        ({"liked": True, "client": client, "seq": 1}, "client")
        for client in ("short", "x" * 65, "with space", "ünicode1", 12345678, None)
    ],
    *[({"liked": True, "client": "abcdefgh", "seq": seq}, "seq") for seq in WRONG_SEQS],
]
UNPARSABLE = [
    (b"{", JSON),
    (b"[]", JSON),
    (b"true", JSON),
    (b"null", JSON),
    (b'"liked"', JSON),
    (b'{"liked": NaN}', JSON),
    (b'{"liked": true} x', JSON),
    (b"\xff\xfe{}", JSON),
    (b"[" * 4000, JSON),
    (b'{"a":' * 800, JSON),
    (b"liked", FORM),
    (b"liked=true&", FORM),
    (b"liked=%ff", FORM),
    ("liked=true".encode("utf-16-le"), FORM),
    (b"&".join(b"a=" for _ in range(1000)), FORM),
    (b"liked=true", MULTIPART),
    (part("liked", "true").encode(), MULTIPART),
    (b"--edge\r\n\r\ntrue\r\n--edge--\r\n", MULTIPART),
    (b'--edge\r\nContent-Disposition: form-data; name="liked"\r\n', MULTIPART),
    ((part("liked", "true") + "--edge--\r\n").encode(), "multipart/form-data"),
    ((part("liked", "true") + "--edge--\r\n").encode(), "multipart/form-data; boundary=" + "e" * 300),
]
TWICE = [
    (b'{"liked": true, "liked": true}', JSON),
    (b'{"liked": true, "liked": false}', JSON),
    (b'{"liked": true, "client": "abcdefgh", "seq": 1, "seq": 2}', JSON),
    (b"liked=true&liked=true", FORM),
    ((part("liked", "true") + part("liked", "true") + "--edge--\r\n").encode(), MULTIPART),
]
WRONG_FORMS = [
    *[(f"liked={word}".encode(), FORM) for word in ("", "True", "1", "on", "false%20", "null")],
    (b"not_interested=true", FORM),
    ((part("liked", "") + "--edge--\r\n").encode(), MULTIPART),
    (
        b'--edge\r\nContent-Disposition: form-data; name="liked"; filename="a"\r\n\r\ntrue\r\n--edge--\r\n',
        MULTIPART,
    ),
]


@pytest.fixture
def liked(reader: User, article: Article) -> Article:
    """An article this reader likes: whatever un-likes it has taken an error for a toggle."""
    FeedbackFactory(profile=profile_of(reader), article=article, verdict=Verdict.LIKED, version=1)
    Article.objects.filter(pk=article.pk).update(like_count=1)
    Profile.objects.filter(pk=reader.pk).update(interest_version=1)
    return article


def session_of(user: User) -> APIClient:
    """A browser's: Django's CSRF check looks into its forms before we do."""
    client = APIClient(enforce_csrf_checks=True)
    client.force_login(user)
    client.cookies["csrftoken"] = "a" * 32
    client.credentials(HTTP_X_CSRFTOKEN="a" * 32)
    return client


@pytest.fixture(params=["token", "session"])
def either_api(request: pytest.FixtureRequest, api: APIClient, reader: User) -> APIClient:
    return api if request.param == "token" else session_of(reader)


def rows() -> list[Any]:
    return [list(model.objects.order_by("pk").values()) for model in (Feedback, Profile, IdempotencyKey, Article)]


def assert_refused(api: APIClient, article: Article, method: str, body: bytes, type_: str, code: str, **extra: Any) -> Any:
    before = rows()
    answer = api.generic(method, f"/api/articles/{article.pk}/like/", body, type_, **extra)
    problem = answer.json()
    assert (answer["Content-Type"], problem["code"]) == ("application/problem+json", code)
    assert problem["status"] == answer.status_code
    assert problem["title"]
    assert problem["detail"]
    assert rows() == before
    return answer


@pytest.mark.parametrize("method", ["PUT", "POST"])
@pytest.mark.parametrize(("body", "field"), WRONG_JSON)
def test_a_wrong_value_is_refused_by_its_field(api: APIClient, liked: Article, method: str, body: Any, field: str) -> None:
    answer = assert_refused(api, liked, method, json.dumps(body).encode(), JSON, "invalid")
    assert answer.status_code == 400
    assert field in answer.json()["errors"]


@pytest.mark.parametrize(("body", "type_"), UNPARSABLE)
def test_a_body_that_cannot_be_read_is_a_parse_error(either_api: APIClient, liked: Article, body: bytes, type_: str) -> None:
    assert assert_refused(either_api, liked, "POST", body, type_, "parse_error").status_code == 400


@pytest.mark.parametrize("charset", ["utf-16", "shift_jis", "ISO-8859-1", "no-such"])
@pytest.mark.parametrize("type_", [JSON, FORM, MULTIPART])
def test_another_charset_is_415_and_never_read_as_utf_8(either_api: APIClient, liked: Article, type_: str, charset: str) -> None:
    body = b'{"liked": false}' if type_ == JSON else b"liked=false"
    answer = assert_refused(either_api, liked, "POST", body, f'{type_}; charset="{charset}"', "unsupported_media_type")
    assert (answer.status_code, answer.json()["detail"]) == (415, f"Send the body in UTF-8, not in {charset.lower()}.")


@pytest.mark.parametrize("type_", [f"{JSON}; charset=UTF-8", f"{JSON};charset=utf8", f"{FORM}; charset=us-ascii"])
def test_a_charset_that_is_utf_8_is_read(either_api: APIClient, liked: Article, type_: str) -> None:
    body = b'{"liked": false}' if JSON in type_ else b"liked=false"
    assert either_api.generic("POST", f"/api/articles/{liked.pk}/like/", body, type_).json()["liked"] is False


@pytest.mark.parametrize(("body", "type_"), TWICE + WRONG_FORMS)
def test_a_wrong_form_or_a_doubled_field_is_invalid(api: APIClient, liked: Article, body: bytes, type_: str) -> None:
    assert assert_refused(api, liked, "POST", body, type_, "invalid").status_code == 400


def test_a_doubled_unknown_field_is_ignored(api: APIClient, liked: Article) -> None:
    body = b'{"liked": true, "x": 1, "x": {"liked": 1, "liked": 2}}'
    assert api.generic("POST", f"/api/articles/{liked.pk}/like/", body, JSON).json()["changed"] is False


@pytest.mark.parametrize("method", ["PUT", "POST"])
@pytest.mark.parametrize("query", ["liked=true", "not_interested=false", "liked=", "client=abcdefgh&seq=5"])
def test_a_field_in_the_address_is_refused(api: APIClient, liked: Article, method: str, query: str) -> None:
    assert_refused(api, liked, method, b'{"liked": true}', JSON, "invalid", QUERY_STRING=query)
    assert_refused(api, liked, method, b"", JSON, "invalid", QUERY_STRING=query)


@pytest.mark.parametrize("type_", ["text/plain", "application/xml", "application/jsonx", ""])
def test_another_type_of_body_is_415(api: APIClient, liked: Article, type_: str) -> None:
    assert assert_refused(api, liked, "POST", b'{"liked": true}', type_, "unsupported_media_type").status_code == 415


@pytest.mark.parametrize("type_", [JSON, FORM, MULTIPART, "text/plain"])
def test_more_than_4_kib_is_413_before_parsing(api: APIClient, liked: Article, type_: str) -> None:
    assert assert_refused(api, liked, "POST", b"x" * 4097, type_, "body_too_large").status_code == 413


def test_a_huge_form_in_a_session_is_413(reader: User, liked: Article) -> None:
    assert_refused(session_of(reader), liked, "POST", b"liked=true&x=" + b"x" * 3_000_000, FORM, "body_too_large")


@pytest.mark.parametrize("method", ["PUT", "POST"])
def test_a_chunked_body_is_411(api: APIClient, liked: Article, method: str) -> None:
    extra = {"CONTENT_LENGTH": "", "HTTP_TRANSFER_ENCODING": "chunked"}
    assert assert_refused(api, liked, method, b"", JSON, "length_required", **extra).status_code == 411


@pytest.mark.parametrize("length", ["x", "-1", "1.5", "+3"])
def test_a_broken_length_is_no_empty_body(api: APIClient, liked: Article, length: str) -> None:
    assert_refused(api, liked, "POST", b"", JSON, "parse_error", CONTENT_LENGTH=length)


WHOLE = [
    (b'{"liked": true, "not_interested": false}', JSON),
    (b"liked=true&not_interested=false", FORM),
    ((part("liked", "true") + part("not_interested", "false") + "--edge--\r\n").encode(), MULTIPART),
]


@pytest.mark.parametrize(("body", "type_"), WHOLE)
@pytest.mark.parametrize("session", [False, True])
def test_a_body_cut_at_any_byte_writes_nothing(
    api: APIClient, reader: User, article: Article, body: bytes, type_: str, session: bool
) -> None:
    client = APIClient() if session else api
    if session:
        client.force_login(reader)
    for cut in range(len(body)):
        extra: dict[str, Any] = {"CONTENT_LENGTH": str(len(body)), "wsgi.input": BytesIO(body[:cut])}
        answer = client.generic("POST", f"/api/articles/{article.pk}/like/", b"", type_, **extra)
        assert (answer.status_code, answer.json()["code"]) == (400, "parse_error"), cut
    assert not Feedback.objects.exists()


@pytest.mark.parametrize("article_id", ["0", "999", "9" * 18, "9" * 19, "9" * 400, "-1", "1.5", "abc", "１", "7/likes", ""])
@pytest.mark.parametrize("method", ["GET", "PUT", "POST"])
def test_an_article_that_is_not_there_is_404(api: APIClient, liked: Article, article_id: str, method: str) -> None:
    answer = api.generic(method, f"/api/articles/{article_id}/like/", b'{"liked": true}', JSON)
    assert (answer.status_code, answer.json()["code"], answer["Content-Type"]) == (404, "not_found", "application/problem+json")


@pytest.mark.parametrize("method", ["PATCH", "DELETE", "OPTIONS", "TRACE"])
def test_another_method_is_405(api: APIClient, liked: Article, method: str) -> None:
    answer = assert_refused(api, liked, method, b"", JSON, "method_not_allowed")
    assert answer["Allow"] == "GET, HEAD, PUT, POST"


def test_accept_is_ignored(api: APIClient, liked: Article) -> None:
    answer = api.generic("POST", f"/api/articles/{liked.pk}/like/", b'{"liked": 1}', JSON, HTTP_ACCEPT="text/html")
    assert answer["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize("debug", [False, True])
def test_below_api_nothing_is_ever_html(api: APIClient, settings: Any, debug: bool) -> None:
    settings.DEBUG = debug
    for address in ("/api", "/api/", "/api/nothing", "/api/nothing/", "/api/articles/x/"):
        answer = api.get(address)
        assert (answer.status_code, answer["Content-Type"]) == (404, "application/problem+json"), address


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("debug", [False, True])
def test_a_database_that_is_away_is_503_and_says_when_to_come_back(
    api: APIClient, article: Article, settings: Any, debug: bool
) -> None:
    settings.DEBUG = debug

    def away(*args: Any) -> Any:
        raise OperationalError("the connection is lost")

    with connection.execute_wrapper(away):
        answer = api.put(f"/api/articles/{article.pk}/like/", {"liked": True}, format="json")
    assert (answer.status_code, answer.json()["code"], answer["Retry-After"]) == (503, "unavailable", "2")
    assert api.put(f"/api/articles/{article.pk}/like/", {"liked": True}, format="json").json()["changed"] is True


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(body=st.binary(max_size=200), type_=st.sampled_from([JSON, FORM, MULTIPART]), empty=st.just(b""))
def test_random_bytes_never_save_and_never_fail(
    either_api: APIClient, liked: Article, body: bytes, type_: str, empty: bytes
) -> None:
    answer = either_api.generic("PUT", f"/api/articles/{liked.pk}/like/", body, type_)
    assert answer.status_code == 400


def test_more_parts_than_a_client_sends_are_refused(anonymous_api: APIClient) -> None:
    answer = anonymous_api.get("/api/articles/?" + "&".join(["id=1"] * 1001))
    assert (answer.status_code, answer.json()["code"]) == (400, "parse_error")
