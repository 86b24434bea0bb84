"""A feed that moved for good: its address changes, and where another feed is at the new one already, the two become one."""

from django.db import IntegrityError, transaction

from articles.feeds.links import web_address
from articles.models import Article, ArticleSource, Feed, Tombstone


def move(feed: Feed, address: str) -> Feed:
    """The feed at its new address: this one, or the one that was there. Articles keep their ids, and so every like."""
    if web_address(address) is None or address == feed.url:
        return feed
    try:
        with transaction.atomic():
            there = Feed.objects.filter(url=address).first()
            return merge(feed, there) if there else readdress(feed, address)
    except IntegrityError:  # somebody added the new address a moment ago
        with transaction.atomic():
            return merge(feed, Feed.objects.get(url=address))


def readdress(feed: Feed, address: str) -> Feed:
    feed.url = address
    feed.save(update_fields=["url"])
    return feed


def merge(feed: Feed, there: Feed) -> Feed:
    """Both rows are locked in one order: feeds that moved to each other's places would wait for each other."""
    list(Feed.objects.filter(pk__in=[feed.pk, there.pk]).order_by("pk").select_for_update())
    move_sources(feed, there)
    Article.objects.filter(feed=feed).update(feed=there)
    Tombstone.objects.filter(feed=feed).update(feed=there)
    Feed.objects.filter(pk=feed.pk).delete()
    return there


def move_sources(feed: Feed, there: Feed) -> None:
    """Links follow, but for those that would name a feed twice; they go with the feed."""
    ArticleSource.objects.filter(feed=there, article__feed=feed).delete()
    linked = ArticleSource.objects.filter(feed=there).values("article")
    ArticleSource.objects.filter(feed=feed).exclude(article__in=linked).exclude(article__feed=there).update(feed=there)
