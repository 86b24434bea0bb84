"""The HTTP contract of feedback: what each request does to the rows, and the whole reply."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from articles.models import Article, Profile, User
from feedback.models import Feedback, Verdict
from tests.factories import ArticleFactory, FeedbackFactory, profile_of


def like_url(article: Article, slash: str = "/") -> str:
    return f"/api/articles/{article.pk}/like{slash}"


def not_interested_url(article: Article) -> str:
    return f"/api/articles/{article.pk}/not-interested/"


def verdict_of(user: User, article: Article) -> str:
    row = Feedback.objects.filter(profile_id=user.pk, article=article).first()
    return row.verdict if row else Verdict.NONE


def stored_count(article: Article) -> int:
    return Article.objects.get(pk=article.pk).like_count


def reply(article: Article, **members: Any) -> dict[str, Any]:
    nothing = {"article": article.pk, "liked": False, "not_interested": False, "like_count": 0, "version": 0}
    return nothing | {"changed": False, "stale": False} | members


class TestDesiredState:
    def test_like_then_the_same_like_again(self, api: APIClient, other_api: APIClient, article: Article) -> None:
        other_api.put(like_url(article), {"liked": True}, format="json")

        first = api.put(like_url(article), {"liked": True}, format="json")
        second = api.put(like_url(article), {"liked": True}, format="json")

        assert first.json() == reply(article, liked=True, like_count=2, version=1, changed=True)
        assert second.json() == reply(article, liked=True, like_count=2, version=1)
        assert (first.status_code, first["Content-Type"], first["Cache-Control"]) == (200, "application/json", "no-store")
        assert stored_count(article) == 2

    @pytest.mark.parametrize("method", ["put", "post"])
    @pytest.mark.parametrize("slash", ["/", ""])
    def test_put_and_post_with_the_field_mean_the_same(self, api: APIClient, article: Article, method: str, slash: str) -> None:
        for _ in range(2):
            answer = getattr(api, method)(like_url(article, slash), {"liked": True}, format="json")
        assert answer.json() == reply(article, liked=True, like_count=1, version=1)

    def test_get_tells_the_state_and_writes_nothing(self, api: APIClient, other_api: APIClient, article: Article) -> None:
        other_api.put(like_url(article), {"liked": True}, format="json")
        told = api.get(like_url(article))
        assert told.json() == {"article": article.pk, "liked": False, "not_interested": False, "like_count": 1, "version": 0}
        assert told["Cache-Control"] == "no-store"
        assert Feedback.objects.count() == 1
        assert api.head(like_url(article)).status_code == 200

    def test_a_like_clears_not_interested_as_one_change(self, api: APIClient, reader: User, article: Article) -> None:
        api.put(not_interested_url(article), {"not_interested": True}, format="json")
        answer = api.put(like_url(article), {"liked": True}, format="json")
        assert answer.json() == reply(article, liked=True, like_count=1, version=2, changed=True)
        assert Profile.objects.get(pk=reader.pk).interest_version == 2

    def test_not_interested_clears_a_like(self, api: APIClient, article: Article) -> None:
        api.put(like_url(article), {"liked": True}, format="json")
        answer = api.put(not_interested_url(article), {"not_interested": True}, format="json")
        assert answer.json() == reply(article, not_interested=True, version=2, changed=True)
        assert stored_count(article) == 0

    def test_taking_a_like_back_never_clears_not_interested(self, api: APIClient, article: Article) -> None:
        api.put(not_interested_url(article), {"not_interested": True}, format="json")
        answer = api.put(like_url(article), {"liked": False}, format="json")
        assert answer.json() == reply(article, not_interested=True, version=1)

    def test_taking_back_what_was_never_said_changes_nothing(self, api: APIClient, article: Article) -> None:
        assert api.put(like_url(article), {"liked": False}, format="json").json() == reply(article)
        assert not Feedback.objects.exists()
        assert not Profile.objects.exists()

    @pytest.mark.parametrize("url", [like_url, not_interested_url])
    def test_both_fields_state_the_whole_verdict(self, api: APIClient, article: Article, url: Any) -> None:
        api.put(url(article), {"liked": False, "not_interested": True}, format="json")
        liked = api.put(url(article), {"liked": True, "not_interested": False}, format="json")
        nothing = api.put(url(article), {"liked": False, "not_interested": False}, format="json")
        assert liked.json() == reply(article, liked=True, like_count=1, version=2, changed=True)
        assert nothing.json() == reply(article, version=3, changed=True)

    def test_an_undone_verdict_keeps_its_version(self, api: APIClient, reader: User, article: Article) -> None:
        api.put(like_url(article), {"liked": True}, format="json")
        api.put(like_url(article), {"liked": False}, format="json")
        api.put(like_url(ArticleFactory()), {"liked": True}, format="json")
        assert api.get(like_url(article)).json()["version"] == 2
        assert Profile.objects.get(pk=reader.pk).interest_version == 3

    def test_an_unchanged_repeat_leaves_the_mark_as_it_was(self, api: APIClient, article: Article) -> None:
        api.put(like_url(article), {"liked": True}, format="json")
        before = Feedback.objects.values().get()
        api.put(like_url(article), {"liked": True}, format="json")
        assert Feedback.objects.values().get() == before

    def test_a_profile_is_made_by_the_first_write(
        self, api: APIClient, reader: User, other_reader: User, article: Article
    ) -> None:
        api.put(like_url(article), {"liked": True}, format="json")
        assert list(Profile.objects.values_list("pk", flat=True)) == [reader.pk]

    @pytest.mark.parametrize("type_", ["application/x-www-form-urlencoded", "multipart"])
    def test_forms_say_true_and_false(self, api: APIClient, article: Article, type_: str) -> None:
        for word, liked in (("true", True), ("false", False)):
            if type_ == "multipart":
                answer = api.post(like_url(article), {"liked": word}, format="multipart")
            else:
                answer = api.post(like_url(article), f"liked={word}", content_type=type_)
            assert answer.json()["liked"] is liked


EMPTY_BODIES = [
    (b"", "application/json"),
    (b"", "application/x-www-form-urlencoded"),
    (b"", "multipart/form-data; boundary=x"),
    (b"", "text/xml"),
    (b"", ""),
    (b"{}", "application/json"),
    (b'{"client": "abcdefgh", "seq": %d, "other": [1]}', "application/json"),
    (b"other=1", "application/x-www-form-urlencoded"),
    (b"--x--\r\n", "multipart/form-data; boundary=x"),
    (b'--x\r\nContent-Disposition: form-data; name="other"\r\n\r\n1\r\n--x--\r\n', "multipart/form-data; boundary=x"),
]


class TestToggle:
    @pytest.mark.parametrize(("body", "type_"), EMPTY_BODIES)
    def test_a_body_without_the_fields_toggles(self, api: APIClient, article: Article, body: bytes, type_: str) -> None:
        for seq, liked in ((1, True), (2, False), (3, True)):
            answer = api.generic("POST", like_url(article), body.replace(b"%d", b"%d" % seq), type_)
            assert answer.json() == reply(article, liked=liked, like_count=int(liked), version=seq, changed=True)

    def test_each_endpoint_toggles_its_own_field(self, api: APIClient, article: Article) -> None:
        api.post(like_url(article))
        assert api.post(not_interested_url(article)).json() == reply(article, not_interested=True, version=2, changed=True)
        assert api.post(not_interested_url(article)).json() == reply(article, version=3, changed=True)

    def test_a_toggle_says_that_it_is_deprecated(self, api: APIClient, article: Article) -> None:
        toggled = api.post(like_url(article))
        desired = api.post(like_url(article), {"liked": True}, format="json")
        assert toggled["Deprecation"] == "@1764547200"
        assert toggled["Link"] == '<http://testserver/help/toggles/>; rel="deprecation"; type="text/html"'
        assert not desired.has_header("Deprecation")
        assert not desired.has_header("Link")

    def test_a_toggle_leaves_one_log_line(self, api: APIClient, article: Article, caplog: pytest.LogCaptureFixture) -> None:
        client = "Old/1\x1b[31m" + "x" * 300
        with caplog.at_level("INFO", logger="feedback.toggles"):
            api.post(like_url(article), HTTP_USER_AGENT=client, HTTP_X_CLIENT_VERSION="3.1")
            api.post(like_url(article), {"liked": True}, format="json", HTTP_USER_AGENT=client)
        (line,) = [record.getMessage() for record in caplog.records if record.name == "feedback.toggles"]
        assert "X-Client-Version: 3.1" in line
        assert line.isprintable()
        assert "x" * 192 not in line

    def test_put_never_toggles(self, api: APIClient, article: Article) -> None:
        answer = api.put(like_url(article))
        assert (answer.status_code, answer.json()["code"]) == (400, "invalid")
        assert not Feedback.objects.exists()


class TestCounts:
    def test_an_unchanged_save_repairs_a_drifted_counter(self, api: APIClient, other_api: APIClient, article: Article) -> None:
        for client in (api, other_api):
            client.put(like_url(article), {"liked": True}, format="json")
        Article.objects.update(like_count=40)
        assert api.put(like_url(article), {"liked": True}, format="json").json()["like_count"] == 2
        assert stored_count(article) == 2

    def test_b35_a_counter_below_the_truth_is_no_failure(self, api: APIClient, article: Article) -> None:
        api.put(like_url(article), {"liked": True}, format="json")
        Article.objects.update(like_count=0)
        assert api.put(like_url(article), {"liked": False}, format="json").json()["like_count"] == 0
        assert api.put(like_url(article), {"liked": False}, format="json").json() == reply(article, version=2)
        assert stored_count(article) == 0

    def test_not_interested_tells_the_true_count(self, api: APIClient, other_api: APIClient, article: Article) -> None:
        other_api.put(like_url(article), {"liked": True}, format="json")
        Article.objects.update(like_count=7)
        answer = api.put(not_interested_url(article), {"not_interested": True}, format="json")
        assert answer.json() == reply(article, not_interested=True, like_count=1, version=1, changed=True)
        assert stored_count(article) == 1

    def test_an_empty_row_never_counts(self, api: APIClient, article: Article, other_reader: User) -> None:
        FeedbackFactory(profile=profile_of(other_reader), article=article, verdict=Verdict.NONE)
        assert api.put(like_url(article), {"liked": True}, format="json").json()["like_count"] == 1


class TestOrderGuard:
    def send(self, api: APIClient, article: Article, liked: bool, seq: int, client: str = "browser-1") -> dict[str, Any]:
        body = {"liked": liked, "not_interested": False, "client": client, "seq": seq}
        answer: dict[str, Any] = api.put(like_url(article), body, format="json").json()
        return answer

    def test_a_late_arrival_does_nothing_and_says_so(self, api: APIClient, article: Article) -> None:
        self.send(api, article, False, 20)
        assert self.send(api, article, True, 10) == reply(article, stale=True)
        assert not Feedback.objects.filter(verdict=Verdict.LIKED).exists()

    def test_an_equal_seq_is_a_repeat(self, api: APIClient, article: Article) -> None:
        self.send(api, article, True, 10)
        self.send(api, article, False, 11)
        assert self.send(api, article, True, 11) == reply(article, version=2)

    def test_the_seq_is_kept_when_nothing_changed(self, api: APIClient, article: Article) -> None:
        self.send(api, article, False, 10)
        assert Feedback.objects.get().seen == [["browser-1", 10]]
        assert Feedback.objects.get().version == 0
        assert self.send(api, article, True, 9)["stale"] is True

    def test_clients_do_not_disturb_each_other(self, api: APIClient, article: Article) -> None:
        self.send(api, article, False, 900, client="browser-1")
        assert self.send(api, article, True, 5, client="browser-2")["changed"] is True

    def test_readers_do_not_disturb_each_other(self, api: APIClient, other_api: APIClient, article: Article) -> None:
        self.send(other_api, article, False, 900)
        assert self.send(api, article, True, 5)["changed"] is True

    def test_the_newest_eight_clients_are_kept(self, api: APIClient, article: Article) -> None:
        for n in range(9):
            self.send(api, article, True, 100, client=f"browser-{n}")
        self.send(api, article, True, 101, client="browser-1")
        assert [client for client, _ in Feedback.objects.get().seen] == [f"browser-{n}" for n in (2, 3, 4, 5, 6, 7, 8, 1)]

    def test_a_repeated_toggle_with_its_seq_toggles_once(self, api: APIClient, article: Article) -> None:
        body = {"client": "extension", "seq": 7}
        first, second = (api.post(like_url(article), body, format="json").json() for _ in range(2))
        assert first == reply(article, liked=True, like_count=1, version=1, changed=True)
        assert second == reply(article, liked=True, like_count=1, version=1)

    def test_the_whole_range_of_seq(self, api: APIClient, article: Article) -> None:
        assert self.send(api, article, True, 0)["changed"] is True
        assert self.send(api, article, False, 2**53 - 1)["changed"] is True


class TestWho:
    def test_without_a_reader_it_is_401_and_never_a_redirect(self, anonymous_api: APIClient, article: Article) -> None:
        for method in ("get", "put", "post", "patch", "delete"):
            answer = getattr(anonymous_api, method)(like_url(article))
            assert (answer.status_code, answer.json()["code"], answer["WWW-Authenticate"]) == (401, "not_authenticated", "Token")

    @pytest.mark.parametrize("header", ["Token nonsense", "Token", "Token a b", "Token \xff\xfe", "Token " + "f" * 5000])
    def test_a_wrong_token_is_401(self, anonymous_api: APIClient, article: Article, header: str) -> None:
        answer = anonymous_api.put(like_url(article), {"liked": True}, format="json", HTTP_AUTHORIZATION=header)
        assert (answer.status_code, answer.json()["code"]) == (401, "not_authenticated")

    def test_a_session_needs_the_csrf_token(self, reader: User, article: Article) -> None:
        client = APIClient(enforce_csrf_checks=True)
        client.force_login(reader)
        refused = client.put(like_url(article), {"liked": True}, format="json")
        assert (refused.status_code, refused.json()["code"]) == (403, "csrf_failed")
        client.cookies["csrftoken"] = "a" * 32
        saved = client.put(like_url(article), {"liked": True}, format="json", HTTP_X_CSRFTOKEN="a" * 32)
        assert saved.json()["changed"] is True

    def test_an_old_form_may_carry_the_csrf_token(self, reader: User, article: Article) -> None:
        client = APIClient(enforce_csrf_checks=True)
        client.force_login(reader)
        client.cookies["csrftoken"] = "a" * 32
        body = {"csrfmiddlewaretoken": "a" * 32}
        answer = client.post(like_url(article), body, format="multipart")
        assert answer.json() == reply(article, liked=True, like_count=1, version=1, changed=True)
        form = "csrfmiddlewaretoken=" + "a" * 32
        answer = client.post(like_url(article), form, content_type="application/x-www-form-urlencoded")
        assert answer.json() == reply(article, version=2, changed=True)

    def test_b51_a_token_decides_beside_anothers_cookie(
        self, reader: User, other_reader: User, api: APIClient, article: Article
    ) -> None:
        api.handler.enforce_csrf_checks = True
        api.force_login(other_reader)
        answer = api.put(like_url(article), {"liked": True}, format="json", HTTP_X_DEVPICK_READER=str(other_reader.pk))
        assert answer.json()["changed"] is True
        assert (verdict_of(reader, article), verdict_of(other_reader, article)) == (Verdict.LIKED, Verdict.NONE)

    def test_a_page_of_another_reader_writes_nothing(self, reader: User, other_reader: User, article: Article) -> None:
        client = APIClient()
        client.force_login(reader)
        answer = client.put(like_url(article), {"liked": True}, format="json", HTTP_X_DEVPICK_READER=str(other_reader.pk))
        assert (answer.status_code, answer.json()["code"]) == (403, "reader_changed")
        assert not Feedback.objects.exists()
        own = client.put(like_url(article), {"liked": True}, format="json", HTTP_X_DEVPICK_READER=str(reader.pk))
        assert own.json()["changed"] is True

    def test_a_reader_who_is_not_active_is_401(self, api: APIClient, reader: User, article: Article) -> None:
        reader.is_active = False
        reader.save()
        assert api.put(like_url(article), {"liked": True}, format="json").status_code == 401
