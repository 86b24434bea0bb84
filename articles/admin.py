"""Feeds and articles for the people who run the site. Articles are what feeds say: they are read here, not written."""

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest
from django.urls import URLPattern, path
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from articles import feed_admin
from articles.feeds.health import rest_of
from articles.feeds.links import web_address
from articles.models import Article, ArticleSource, Feed


class FeedForm(forms.ModelForm):
    def clean_url(self) -> str:
        url = web_address(self.cleaned_data["url"])
        if url is None:
            raise forms.ValidationError(_("This is no web address. It must begin with http:// or https://."))
        return url


class StatusFilter(admin.SimpleListFilter):
    title = _("last fetch")
    parameter_name = "status"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [
            ("failed", _("failed")),
            ("resting", _("resting after failures")),
            ("succeeded", _("succeeded")),
            ("never", _("not fetched yet")),
        ]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Feed]) -> QuerySet[Feed]:
        match self.value():
            case "failed":
                return queryset.exclude(last_error="")
            case "resting":
                return queryset.filter(is_active=True, next_try_at__gt=timezone.now())
            case "succeeded":
                return queryset.filter(last_error="", last_fetched_at__isnull=False)
            case "never":
                return queryset.filter(last_fetched_at__isnull=True)
        return queryset


HEALTH = ["last_succeeded_at", "last_fetched_at", "failures", "next_try_at", "last_error"]


@admin.register(Feed)
class FeedAdmin(admin.ModelAdmin):
    form = FeedForm
    # Without the address: it cannot be broken into lines, and would push out of sight how a feed is doing.
    list_display = ["title", "is_active", "condition", "last_succeeded_at", "article_count"]
    list_filter = ["is_active", StatusFilter]
    search_fields = ["title", "url", "last_error"]
    actions = ["switch_on", "switch_off"]
    readonly_fields = ["site_url", *HEALTH, "claimed_until", "etag", "last_modified"]

    def get_urls(self) -> list[URLPattern]:
        own = [
            ("opml", "opml/", feed_admin.upload_opml),
            ("opml_export", "opml/export/", feed_admin.download_opml),
            ("by_site", "by-site/", feed_admin.add_by_site),
        ]
        named = [path(route, self.admin_site.admin_view(view), name=f"articles_feed_{name}") for name, route, view in own]
        return [*named, *super().get_urls()]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Feed]:
        """`article_count`: of the stories a feed carries, whichever feed told them first."""
        linked = ArticleSource.objects.filter(feed=OuterRef("pk")).values("feed").annotate(count=Count("pk")).values("count")
        count = Count("articles") + Coalesce(Subquery(linked), 0)
        return super().get_queryset(request).annotate(article_count=count)

    @admin.display(description=_("last fetch"), ordering="last_error")
    def condition(self, feed: Feed) -> str:
        if feed.last_fetched_at is None:
            return gettext("not fetched yet")
        return f"{feed.last_error} {rest_of(feed)}".strip() or gettext("succeeded")

    @admin.display(description=_("articles"), ordering="article_count")
    def article_count(self, feed: Any) -> int:
        return feed.article_count

    @admin.action(permissions=["change"], description=_("Fetch the selected feeds again"))
    def switch_on(self, request: HttpRequest, queryset: QuerySet[Feed]) -> None:
        count = queryset.update(is_active=True, failures=0, next_try_at=None)
        self.message_user(request, gettext("The next run fetches the selected feeds: %(count)d.") % {"count": count})

    @admin.action(permissions=["change"], description=_("No longer fetch the selected feeds"))
    def switch_off(self, request: HttpRequest, queryset: QuerySet[Feed]) -> None:
        count = queryset.update(is_active=False)
        self.message_user(request, gettext("No longer fetched: %(count)d.") % {"count": count})


@admin.register(Article)
class ArticleAdmin(admin.ModelAdmin):
    list_display = ["title", "feed", "language", "tags", "like_count", "published_at", "first_seen_at"]
    list_filter = ["language", "feed"]
    list_select_related = ["feed"]
    search_fields = ["title", "summary", "url"]
    date_hierarchy = "published_at"

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Article | None = None) -> bool:
        return False
