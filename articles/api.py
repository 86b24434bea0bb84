"""The lists and single cards over HTTP, for reading. Articles are public; state, match and reasons are those of who asks."""

from typing import Any

from django.utils.translation import gettext as _
from rest_framework.exceptions import NotAuthenticated, NotFound, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from articles.cards import Card, cards_by_id
from articles.http import api_methods, conditional
from articles.lists import MARKED_VIEWS, BadQuery, ListQuery, list_page, parse_id
from articles.models import User

MAX_IDS = 100
MEMBERS = "id url title summary source sources tags published_at liked not_interested like_count version match reasons".split()


@conditional
@api_methods("GET", "HEAD")
def article_list(request: Request) -> Response:
    """A page of a list, the latest unless `view` names another; or the cards that `id` names, in that order."""
    try:
        return chosen(request) if "id" in request.query_params else listed(request)
    except BadQuery as error:
        raise ValidationError({error.name: [str(error)]}) from error


def chosen(request: Request) -> Response:
    texts = request.query_params.getlist("id")
    if len(texts) > MAX_IDS:
        raise BadQuery("id", _("Ask for at most %(count)s articles at once.") % {"count": MAX_IDS})
    ids = dict.fromkeys(parse_id("id", text) for text in texts)
    return answer(cards_by_id(list(ids), reader_of(request)), None)


def listed(request: Request) -> Response:
    query, reader = ListQuery.parse(request.query_params, view="latest"), reader_of(request)
    if reader is None and query.view in MARKED_VIEWS:
        raise NotAuthenticated
    page = list_page(query, reader)
    return answer(page.cards, page.next_cursor and address_of(request, page.next_cursor))


@conditional
@api_methods("GET", "HEAD")
def article_detail(request: Request, article_id: str) -> Response:
    cards = cards_by_id([int(article_id)], reader_of(request))
    if not cards:
        raise NotFound(_("This article is not available, or no longer."))
    return Response(card_json(cards[0]))


def reader_of(request: Request) -> User | None:
    return request.user if isinstance(request.user, User) else None


def answer(cards: list[Card], next_page: str | None) -> Response:
    return Response({"results": [card_json(card) for card in cards], "next": next_page})


def card_json(card: Card) -> dict[str, Any]:
    """The members of a card, in the order of the API's description."""
    return {member: getattr(card, member) for member in MEMBERS}


def address_of(request: Request, cursor: str) -> str:
    """This list's, going on at `cursor`."""
    query = request.query_params.copy()
    query.pop("kept", None)
    query["cursor"] = cursor
    return request.build_absolute_uri(f"{request.path}?{query.urlencode()}")
