"""docs/clients.md: its programs run here as they stand there, through a network that loses, cuts and delays."""

import json
import os
import random
import re
import shutil
import subprocess
import time
import urllib.error
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from articles.models import Article, User
from devpick.api_operations import CODES
from feedback.models import Feedback
from feedback.services import apply_feedback
from feedback.verdicts import Wish
from tests.browser.proxy import Proxy, cut_body, cut_head, lose_reply, lose_request, no_body, problem
from tests.factories import ArticleFactory, token_of
from tests.live_server import LiveServer

GUIDE = Path("docs/clients.md").read_text()
NODE = shutil.which("node")

# A client: (address, token, state) -> the answer, or the status it was refused with.
Save = Callable[[str, str, dict[str, Any]], Any]


def programs(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", GUIDE, re.DOTALL)


def python_function(number: int, name: str) -> Any:
    namespace: dict[str, Any] = {}
    exec(programs("python")[number], namespace)
    return namespace[name]


def save_in_python(url: str, token: str, state: dict[str, Any]) -> Any:
    try:
        return python_function(0, "save")(url, token, **state)
    except urllib.error.HTTPError as error:
        return error.code


def save_in_javascript(url: str, token: str, state: dict[str, Any]) -> Any:
    call = f"save({json.dumps(url)}, {json.dumps(token)}, {json.dumps(state)})"
    told = "(found) => console.log(JSON.stringify(found)), (error) => console.log(error.answer?.status ?? error.message)"
    program = f"Math.random = () => 0;\n{programs('js')[0]}\n{call}.then({told});"
    run = subprocess.run(
        [NODE or "node", "--input-type=module"], input=program, capture_output=True, text=True, timeout=60, check=True
    )
    return json.loads(run.stdout)


@pytest.fixture
def network(live: LiveServer) -> Proxy:
    return Proxy(live.port)


@pytest.fixture(params=["python", "javascript"])
def save(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Save:
    monkeypatch.setattr(random, "uniform", lambda low, high: 0)
    if request.param == "python":
        return save_in_python
    if NODE is None and "CI" not in os.environ:
        pytest.skip("there is no Node.js on this machine")
    return save_in_javascript


def row_of(reader: User) -> tuple[str, int]:
    row = Feedback.objects.get(profile_id=reader.pk)
    return row.verdict, row.version


@pytest.mark.parametrize("fates", [[lose_request, lose_reply, cut_body], [no_body, cut_head, lose_reply, problem(502, "")]])
def test_a_client_saves_once_through_a_network_that_loses(
    network: Proxy, reader: User, other_reader: User, article: Article, save: Save, fates: list[Any]
) -> None:
    apply_feedback(profile_id=other_reader.pk, article_id=article.pk, wish=Wish(liked=True))
    network.plan(*fates)
    answer = save(f"{network.url}/api/articles/{article.pk}/like/", token_of(reader), {"liked": True})
    wanted = {"article": article.pk, "liked": True, "not_interested": False, "like_count": 2, "version": 1}
    assert answer == wanted | {"changed": False, "stale": False}
    assert (row_of(reader), len(network.tries(article))) == (("liked", 1), len(fates) + 1)
    assert {request.body for request in network.tries()} == {network.tries()[0].body}


def test_a_client_waits_as_long_as_the_server_asks(network: Proxy, reader: User, article: Article, save: Save) -> None:
    network.plan(problem(503, "unavailable", Retry_After="1"), problem(429, "throttled", Retry_After="1"))
    start = time.monotonic()
    assert save(f"{network.url}/api/articles/{article.pk}/like/", token_of(reader), {"liked": True})["changed"] is True
    assert time.monotonic() - start >= 2
    assert len(network.tries()) == 3


@pytest.mark.parametrize(("state", "status"), [({"liked": "yes"}, 400), ({"liked": True}, 401)])
def test_a_client_does_not_repeat_what_is_refused(
    network: Proxy, reader: User, article: Article, save: Save, state: dict[str, Any], status: int
) -> None:
    token = token_of(reader) if status == 400 else "0000"
    assert save(f"{network.url}/api/articles/{article.pk}/like/", token, state) == status
    assert len(network.tries()) == 1
    assert not Feedback.objects.exists()


def test_a_client_gives_up_after_five_sends(
    network: Proxy, reader: User, article: Article, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(random, "uniform", lambda low, high: 0)
    network.always(lose_request)
    with pytest.raises(TimeoutError):
        save_in_python(f"{network.url}/api/articles/{article.pk}/like/", token_of(reader), {"liked": True})
    assert len(network.tries()) == 5


def test_a_copy_is_kept(network: Proxy, reader: User, other_reader: User) -> None:
    catch_up, token, articles = python_function(1, "catch_up"), token_of(reader), ArticleFactory.create_batch(3)
    copy: dict[int, Any] = {}
    for article in articles:
        apply_feedback(profile_id=reader.pk, article_id=article.pk, wish=Wish(liked=True))
        apply_feedback(profile_id=other_reader.pk, article_id=article.pk, wish=Wish(not_interested=True))
    since = catch_up(network.url, token, copy)
    apply_feedback(profile_id=reader.pk, article_id=articles[0].pk, wish=Wish(liked=False))
    assert catch_up(network.url, token, copy, since) == 4
    assert [copy[article.pk]["liked"] for article in articles] == [False, True, True]


def test_every_code_of_the_api_is_explained() -> None:
    explained = set(re.findall(r"^\| (\d+) \| `(\w+)`", GUIDE, re.MULTILINE))
    documented = {(str(status), code) for status, (_meaning, codes) in CODES.items() for code in codes}
    assert explained == documented | {("400", "idempotency_key_invalid"), ("405", "method_not_allowed"), ("500", "error")}
