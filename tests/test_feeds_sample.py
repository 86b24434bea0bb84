"""The sample that a stranger reads first, and the dictionary of topics."""

from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest
from django.forms.models import model_to_dict

from articles.feeds.sample import FOLDER, load_sample
from articles.feeds.store import Stored
from articles.models import Article, Feed
from articles.topics import topics

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def test_the_sample_is_rich_and_dated_as_if_it_were_fresh(db: None) -> None:
    assert load_sample(NOW) == Stored(new=72, updated=0)
    assert Counter(Article.objects.values_list("language", flat=True)) == {"en": 48, "ja": 24}
    assert {path.suffix for path in FOLDER.iterdir()} == {".rss", ".rdf", ".atom", ".json"}
    assert Article.objects.latest("published_at").published_at == NOW - timedelta(hours=1)
    assert Article.objects.earliest("published_at").published_at > NOW - timedelta(days=14)
    assert not Article.objects.filter(summary="").exists()
    assert Article.objects.filter(tags=[]).count() == 0
    assert {feed.url.split("/")[2].rpartition(".")[2] for feed in Feed.objects.all()} == {"example"}


def test_sample_feeds_are_not_fetched_for_their_hosts_do_not_exist(db: None) -> None:
    load_sample(NOW)
    assert Feed.objects.filter(is_active=False).count() == Feed.objects.count() == 9


def test_loading_the_sample_again_changes_nothing(db: None) -> None:
    load_sample(NOW)
    before = [model_to_dict(article) for article in Article.objects.all()]
    assert load_sample(NOW + timedelta(days=5)) == Stored(new=0, updated=0)
    assert [model_to_dict(article) for article in Article.objects.all()] == before


@pytest.mark.parametrize(
    ("title", "host", "tags"),
    [
        ("Why Rust is faster than C++23", "blog.example", ["rust", "performance", "c++"]),
        ("Go 1.30 is released", "go.dev", ["go"]),
        ("A place to go to", "blog.example", []),
        ("Said again: it aims well", "blog.example", []),
        ("C# and .NET", "blog.example", ["dotnet"]),
        ("JavaScript is not Java", "blog.example", ["javascript", "java"]),
        ("CVE-2026-12345 explained", "blog.example", ["security"]),
        ("Django 6 released", "www.djangoproject.com", ["python", "django"]),
        ("A post", "notdjangoproject.com", []),
        ("生成ＡＩとPostgreSQLの設計", "zenn.example", ["ai", "postgres", "architecture"]),
        ("Rust, Go 1, Python, Ruby, PHP", "blog.example", ["rust", "go", "python", "ruby"]),
    ],
)
def test_topics_are_found_in_title_and_host(title: str, host: str, tags: list[str]) -> None:
    assert topics(title, host) == tags
