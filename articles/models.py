"""What there is to read, and who reads it. What a reader said of an article stands in `feedback.models`."""

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.utils.translation import gettext_lazy as _
from knox.models import AbstractAuthToken


class User(AbstractUser):
    """A person who signs in. Our own model from the first migration, because it cannot be changed later."""


class ApiToken(AbstractAuthToken):
    """A token of an API client; only its digest is stored."""

    name = models.CharField(_("name"), max_length=100, blank=True, default="", db_default="")
    last_used_on = models.DateField(_("day of last use"), null=True, blank=True)


class Profile(models.Model):
    """What the scores of one reader depend on; made by the reader's first write.

    `interest_version` moves in the transaction of a real change of a verdict, and never otherwise. Cached scores carry it in
    their key.
    """

    user = models.OneToOneField(User, on_delete=models.CASCADE, primary_key=True)
    interest_version = models.PositiveBigIntegerField(default=0, db_default=0)

    def __str__(self) -> str:
        return f"Profile {self.pk}"


class Feed(models.Model):
    """An address that is asked for articles, and how the last asking went.

    The circuit breaker stands in the row, because each run is a new process: after `failures` in a row the feed rests until
    `next_try_at`. `claimed_until`: until then it belongs to the process that is fetching it, should that be killed.
    """

    url = models.CharField(_("address"), max_length=2000, unique=True)
    title = models.CharField(_("title"), max_length=200)
    site_url = models.CharField(_("site"), max_length=2000, blank=True, default="", db_default="")
    is_active = models.BooleanField(_("active"), default=True, db_default=True)
    etag = models.CharField(max_length=500, blank=True, default="", db_default="")
    last_modified = models.CharField(max_length=100, blank=True, default="", db_default="")
    last_fetched_at = models.DateTimeField(_("last fetched"), null=True, blank=True)
    last_succeeded_at = models.DateTimeField(_("last success"), null=True, blank=True)
    last_error = models.CharField(_("last error"), max_length=500, blank=True, default="", db_default="")
    failures = models.PositiveIntegerField(_("failures in a row"), default=0, db_default=0)
    next_try_at = models.DateTimeField(_("next try"), null=True, blank=True)
    claimed_until = models.DateTimeField(_("claimed until"), null=True, blank=True)

    class Meta:
        ordering = ["title", "pk"]

    def __str__(self) -> str:
        return self.title


class Article(models.Model):
    """One story, whatever number of feeds carry it.

    Columns derived from the others by `articles.feeds.store`: `address_key` (the canonical address: two feeds' links to one story
    are one article), `features` (what `articles.scoring` reads) and `search_text` (what the search box and the tag filter read).
    """

    feed = models.ForeignKey(Feed, on_delete=models.PROTECT, related_name="articles")
    guid = models.CharField(max_length=500, blank=True, default="", db_default="")
    url = models.CharField(_("address"), max_length=2000)
    address_key = models.CharField(max_length=64, unique=True)
    title = models.CharField(_("title"), max_length=500)
    summary = models.TextField(_("summary"), blank=True, default="", db_default="")
    language = models.CharField(_("language"), max_length=8, blank=True, default="", db_default="")
    tags = models.JSONField(_("tags"), default=list, blank=True)
    published_at = models.DateTimeField(_("published"))
    first_seen_at = models.DateTimeField(_("first seen"))
    features = models.JSONField(default=list, editable=False)
    search_text = models.TextField(default="", db_default="", editable=False)
    # No check constraint: drift must be repaired, not turned into a failed save.
    like_count = models.IntegerField(_("likes"), default=0, db_default=0, editable=False)

    class Meta:
        ordering = ["-published_at", "-pk"]
        indexes = [
            models.Index(fields=["-published_at", "-id"], name="article_newest"),
            models.Index(fields=["feed", "guid"], name="article_feed_guid"),
        ]

    def __str__(self) -> str:
        return self.title


class ArticleSource(models.Model):
    """Another feed that carries an article too. The first one, whose words the article has, is `Article.feed` and not here."""

    article = models.ForeignKey(Article, on_delete=models.CASCADE, related_name="further_sources")
    feed = models.ForeignKey(Feed, on_delete=models.CASCADE, related_name="+")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["article", "feed"], name="article_source_once")]

    def __str__(self) -> str:
        return f"{self.article_id} in {self.feed_id}"


class Tombstone(models.Model):
    """An article that was pruned, by what its feeds know it by: their next fetch must not bring it back."""

    address_key = models.CharField(max_length=64, unique=True)
    feed = models.ForeignKey(Feed, on_delete=models.SET_NULL, null=True, related_name="+")
    guid = models.CharField(max_length=500, blank=True, default="", db_default="")
    published_at = models.DateTimeField()
    removed_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["feed", "guid"], name="tombstone_feed_guid")]

    def __str__(self) -> str:
        return self.address_key
