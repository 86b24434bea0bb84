"""Rows for tests, made as the application would make them."""

from datetime import datetime, timedelta
from functools import cache
from hashlib import sha256
from typing import Any

import factory
from django.contrib.auth.hashers import make_password
from django.utils import timezone
from factory.django import DjangoModelFactory

from articles.models import ApiToken, Article, Feed, Profile, User
from articles.scoring import features
from feedback.models import Feedback, Verdict

PASSWORD = "correct horse battery staple"


@cache
def hashed_password() -> str:
    """The real hash, made once: it takes a third of a second."""
    return make_password(PASSWORD)


class UserFactory(DjangoModelFactory):
    class Meta:
        model = User

    username = factory.Sequence(lambda n: f"reader{n}")
    email = factory.LazyAttribute(lambda user: f"{user.username}@example.com")
    password = factory.LazyFunction(hashed_password)


class FeedFactory(DjangoModelFactory):
    class Meta:
        model = Feed

    url = factory.Sequence(lambda n: f"https://feed{n}.example.com/rss")
    title = factory.Sequence(lambda n: f"Feed {n}")


def search_text(title: str, summary: str, tags: list[str]) -> str:
    return f"{title}\n{summary}\n".casefold() + "".join(f"#{tag}\n" for tag in tags)


class ArticleFactory(DjangoModelFactory):
    """Article n is n minutes older than the test, so later ones are older."""

    class Meta:
        model = Article

    feed = factory.SubFactory(FeedFactory)
    url = factory.Sequence(lambda n: f"https://example.com/articles/{n}")
    guid = factory.SelfAttribute("url")
    address_key = factory.LazyAttribute(lambda article: sha256(article.url.encode()).hexdigest())
    title = factory.Sequence(lambda n: f"Article {n}")
    summary = factory.LazyAttribute(lambda article: f"What {article.title} says.")
    language = "en"
    tags = factory.LazyFunction(lambda: ["python"])
    published_at = factory.Sequence(lambda n: ago(minutes=n))
    first_seen_at = factory.SelfAttribute("published_at")
    features = factory.LazyAttribute(lambda article: features(title=article.title, tags=article.tags, source=host(article.url)))
    search_text = factory.LazyAttribute(lambda article: search_text(article.title, article.summary, article.tags))


def ago(**span: float) -> datetime:
    return timezone.now() - timedelta(**span)


def host(url: str) -> str:
    return url.split("/")[2].removeprefix("www.")


class FeedbackFactory(DjangoModelFactory):
    """A stored verdict, with the profile it needs. The article's count is the caller's to set: drift is a thing to test."""

    class Meta:
        model = Feedback

    profile = factory.LazyFunction(lambda: profile_of(UserFactory()))
    article = factory.SubFactory(ArticleFactory)
    verdict = Verdict.LIKED
    marked_at = factory.LazyFunction(timezone.now)


def profile_of(user: User) -> Profile:
    return Profile.objects.get_or_create(user=user)[0]


def token_of(user: User, **fields: Any) -> str:
    """An API token of this reader, as the client sends it. It was used today: the first request of a day also notes the day."""
    return ApiToken.objects.create(user=user, **{"last_used_on": timezone.localdate()} | fields)[1]
