"""Pages of the admin by which staff add feeds: a whole list as OPML, or those of a site, seen before they are saved."""

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.admin import site
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from articles.feeds import FeedError
from articles.feeds.discovery import FoundFeed, discover
from articles.feeds.links import host_of
from articles.feeds.opml import MAX_BYTES, TITLE_LENGTH, export_opml, import_opml
from articles.feeds.text import shorten
from articles.models import Feed

FEEDS = "admin:articles_feed_changelist"


class UploadForm(forms.Form):
    file = forms.FileField(label=gettext_lazy("OPML file"))


class SiteForm(forms.Form):
    address = forms.CharField(label=gettext_lazy("Address of a site or feed"), max_length=2000)


def upload_opml(request: HttpRequest) -> HttpResponse:
    """One line of the report as a message each, above the list of feeds."""
    require(request, "articles.add_feed")
    form = UploadForm(request.POST, request.FILES) if request.method == "POST" else UploadForm()
    if form.is_valid():
        try:
            for line in import_opml(form.cleaned_data["file"].read(MAX_BYTES + 1)).lines():
                messages.info(request, line)
            return redirect(FEEDS)
        except FeedError as failure:
            form.add_error("file", str(failure))
    return page(request, "opml.html", _("Import feeds from OPML"), form=form)


def download_opml(request: HttpRequest) -> HttpResponse:
    require(request, "articles.view_feed")
    document = export_opml(Feed.objects.filter(is_active=True))
    headers = {"Content-Disposition": 'attachment; filename="devpick.opml"'}
    return HttpResponse(document, content_type="text/x-opml; charset=utf-8", headers=headers)


def add_by_site(request: HttpRequest) -> HttpResponse:
    """First a look at what the site's feeds hold; a second press saves one. By POST: no link may make this server ask around."""
    require(request, "articles.add_feed")
    form = SiteForm(request.POST) if request.method == "POST" else SiteForm()
    found: list[FoundFeed] = []
    if form.is_valid():
        try:
            found = discover(form.cleaned_data["address"])
            if chosen := next((one for one in found if one.url == request.POST.get("save")), None):
                return add(request, chosen)
        except FeedError as failure:
            form.add_error("address", str(failure))
    return page(request, "discover.html", _("Add a feed by its site"), form=form, found=found)


def add(request: HttpRequest, chosen: FoundFeed) -> HttpResponse:
    title = shorten(chosen.feed.title or host_of(chosen.url), TITLE_LENGTH)
    feed, is_new = Feed.objects.get_or_create(url=chosen.url, defaults={"title": title, "site_url": chosen.feed.site_url})
    told = _("“%(title)s” is added; the next run fetches it.") if is_new else _("“%(title)s” was there already.")
    messages.info(request, told % {"title": feed.title})
    return redirect(FEEDS)


def require(request: HttpRequest, permission: str) -> None:
    if not request.user.has_perm(permission):
        raise PermissionDenied


def page(request: HttpRequest, template: str, title: str, **context: Any) -> HttpResponse:
    frame = site.each_context(request) | {"title": title, "opts": Feed._meta}
    return render(request, f"admin/articles/feed/{template}", frame | context)
