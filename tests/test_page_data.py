"""What the page's script is told: the contract's numbers in milliseconds, addresses, texts that fit their row."""

from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser
from django.test import RequestFactory

from articles.models import User
from articles.page_data import page_data, texts
from articles.retry import RetryPolicy

POLICY = {
    "ceilings": [1000, 2000, 4000, 4000],
    "max_sends": 5,
    "deadline": 20000,
    "timeout": 8000,
    "longest_retry_after": 4000,
    "repeats_per_minute": 10,
    "minute": 60000,
    "intent_life": 600000,
}


def data_for(user: User | AnonymousUser) -> dict[str, object]:
    request = RequestFactory().get("/")
    request.user = user
    return page_data(request)


def test_page_names_its_reader_and_the_contracts_numbers(reader: User):
    data = data_for(reader)
    told = data.pop("texts")
    assert told == texts()
    assert data == {
        "reader": reader.pk,
        "csrf_cookie": "csrftoken",
        "policy": POLICY,
        "urls": {
            "liked": "/api/articles/{article}/like/",
            "not_interested": "/api/articles/{article}/not-interested/",
            "read": "/api/articles/{article}/read/",
            "states": "/api/articles/",
            "form": "/articles/{article}/feedback",
        },
        "likes": {"one": "like", "other": "likes"},
    }


def test_visitors_page_names_nobody():
    assert data_for(AnonymousUser())["reader"] is None


def test_policy_may_be_set_in_parts_and_in_seconds(settings: Any):
    settings.PAGE_RETRY_POLICY = RetryPolicy(ceilings=(0.05,), timeout=1.5)
    assert data_for(AnonymousUser())["policy"] == POLICY | {"ceilings": [50], "timeout": 1500}


@pytest.mark.parametrize("text", texts().values())
def test_texts_fit_the_note_row(text: str):
    assert len(text.format(n=119)) <= 34
