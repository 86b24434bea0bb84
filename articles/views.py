"""The list page: one reader's view of the articles, complete without JavaScript."""

from urllib.parse import urlencode

from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_cookie

from articles.lists import MARKED_VIEWS, BadQuery, ListPage, ListQuery, list_page
from articles.models import User
from articles.page_data import page_data
from articles.pages import problem_page

HEADINGS = {
    "for-you": gettext_lazy("For you"),
    "latest": gettext_lazy("Latest"),
    "liked": gettext_lazy("Liked"),
    "not-interested": gettext_lazy("Not interested"),
}
LANGUAGES = [("en", "English"), ("ja", "日本語")]


@require_safe
# Not no-store: it would keep the page out of the back/forward cache.
@cache_control(private=True, no_cache=True)
@vary_on_cookie
def article_list(request: HttpRequest) -> HttpResponse:
    """One page of one list, as `ListQuery` reads it from the address. A visitor is asked to log in for the lists of a reader."""
    reader = request.user if isinstance(request.user, User) else None
    try:
        query = ListQuery.parse(request.GET)
    except BadQuery as error:
        return problem_page(request, 400, _("This address cannot be read"), str(error))
    if reader is None and query.view in MARKED_VIEWS:
        return redirect_to_login(request.get_full_path())
    return render(request, "articles/list.html", context_of(request, query, list_page(query, reader)))


def context_of(request: HttpRequest, query: ListQuery, page: ListPage) -> dict[str, object]:
    hot = query.view == "for-you" and not request.user.is_authenticated
    filters = filters_of(query)
    return {
        "query": query,
        "page": page,
        "view": query.view,
        "heading": _("Hot") if hot else HEADINGS[query.view],
        "has_matches": any(card.match is not None for card in page.cards),
        "filters": filters,
        "unfiltered": address(request, only=("view",)),
        "here": address(request),
        "single_words": query.q.split()[:3] if " " in query.q else [],
        "languages": LANGUAGES,
        "page_data": page_data(request),
    }


def filters_of(query: ListQuery) -> list[str]:
    """What narrows the list, in words."""
    language = dict(LANGUAGES).get(query.lang, query.lang)
    unread = _("unread") if query.unread else ""
    shown = [query.q and f"“{query.q}”", query.source, query.tag and f"#{query.tag}", language, unread]
    return [text for text in shown if text]


def address(request: HttpRequest, only: tuple[str, ...] | None = None) -> str:
    """This list's address without empty fields and without the card that was kept once."""
    wanted = {name: value for name, value in request.GET.items() if value and name != "kept" and (only is None or name in only)}
    return f"{request.path}?{urlencode(wanted)}" if wanted else request.path
