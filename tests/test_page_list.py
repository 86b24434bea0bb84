"""The list page: what stands on it, for whom, in which order, and at what cost."""

import json
import re
from datetime import timedelta
from html import unescape
from urllib.parse import parse_qs, urlsplit

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from articles.models import Article, User
from feedback.services import apply_feedback
from feedback.verdicts import Wish
from tests.factories import ArticleFactory, FeedFactory
from tests.pages import cards_of, page_of, verdict_form


@pytest.fixture
def site(client: Client, reader: User) -> Client:
    """The site as `reader` uses it, logged in."""
    client.force_login(reader)
    return client


def mark(user: User, article: Article, *, liked: bool = False, not_interested: bool = False) -> None:
    apply_feedback(profile_id=user.pk, article_id=article.pk, wish=Wish(liked, not_interested))


def test_a_card_carries_everything_about_its_article(site: Client, reader: User, other_reader: User) -> None:
    article = ArticleFactory(
        feed=FeedFactory(title="Query Notes"),
        url="https://example.com/a?b=1&c=2",
        title="Locks & <waits>",
        summary="Read “this”.",
        tags=["postgres", "locks"],
        published_at=timezone.now() - timedelta(hours=3, minutes=1),
    )
    mark(reader, article, liked=True)
    mark(other_reader, article, liked=True)
    card = cards_of(site.get("/?view=latest"))[article.pk]
    assert card.attributes == {
        "class": "card",
        "id": f"article-{article.pk}",
        "data-article": str(article.pk),
        "data-liked": "true",
        "data-not-interested": "false",
        "data-like-count": "2",
        "data-version": "1",
        "data-state": "idle",
    }
    link = card.one("h2", id=f"t{article.pk}", lang="en").one("a")
    assert (link.text, link.attributes["href"]) == ("Locks & <waits>", "https://example.com/a?b=1&c=2")
    assert link.attributes["rel"] == "noopener noreferrer"
    assert card.one("p", class_="summary", lang="en").text == "Read “this”."
    assert card.one("p", class_="meta").text == "Query Notes 3 h ago postgres locks Read"
    assert card.one("time").attributes["datetime"] == article.published_at.isoformat()
    assert card.one("span", class_="count").text == "2 likes"


def test_each_title_and_summary_names_its_own_language(client: Client, db: None) -> None:
    languages = {ArticleFactory(language=language).pk: language for language in ("en", "ja", "")}
    cards = cards_of(client.get("/"))
    titles = {number: card.one("h2").attributes["lang"] for number, card in cards.items()}
    summaries = {number: card.one("p", class_="summary").attributes["lang"] for number, card in cards.items()}
    assert titles == summaries == languages


def test_source_and_tags_in_another_script_name_their_language_too(client: Client, db: None) -> None:
    ArticleFactory(feed=FeedFactory(title="走り書き"), tags=["rust", "設計"], language="ja")
    (card,) = cards_of(client.get("/")).values()
    links = card.one("p", class_="meta").all("a")
    assert [(link.text, link.attributes.get("lang")) for link in links] == [("走り書き", "ja"), ("rust", None), ("設計", "ja")]


def test_the_buttons_send_the_whole_verdict_that_their_press_asks_for(site: Client, reader: User) -> None:
    new, liked, hidden = ArticleFactory.create_batch(3)
    mark(reader, liked, liked=True)
    mark(reader, hidden, not_interested=True)
    cards = cards_of(site.get(f"/?view=latest&kept={hidden.pk}"))
    like, dislike, nothing = (
        {"liked": "true", "not_interested": "false"},
        {"liked": "false", "not_interested": "true"},
        {"liked": "false", "not_interested": "false"},
    )
    sent = {number: [verdict_form(card, v) for v in ("liked", "not_interested", "undo")] for number, card in cards.items()}
    assert sent == {
        new.pk: [like, dislike, nothing],
        liked.pk: [nothing, dislike, nothing],
        hidden.pk: [like, nothing, nothing],
    }
    pressed = {n: [b.attributes["aria-pressed"] for b in c.one("div", class_="acts").all("button")] for n, c in cards.items()}
    assert pressed == {new.pk: ["false", "false"], liked.pk: ["true", "false"], hidden.pk: ["false", "true"]}


def test_a_button_keeps_its_name_and_says_which_article_it_is_for(site: Client, reader: User) -> None:
    article = ArticleFactory()
    names = []
    for liked in (False, True):
        mark(reader, article, liked=liked)
        acts = cards_of(site.get("/?view=latest"))[article.pk].one("div", class_="acts")
        names.append([(button.text, button.attributes["aria-describedby"]) for button in acts.all("button")])
    assert names[0] == names[1] == [("Like", f"t{article.pk}"), ("Not interested", f"t{article.pk}")]


def test_forms_name_their_reader_and_the_list_they_stand_on(site: Client, reader: User, article: Article) -> None:
    article.tags, article.search_text = ["python"], "article\n#python\n"
    article.save()
    fields = cards_of(site.get("/?view=latest&tag=python&q=&kept=5"))[article.pk].one("form", data_verdict="liked").fields()
    assert (fields["reader"], fields["next"]) == (str(reader.pk), "/?view=latest&tag=python")


def test_a_visitors_forms_name_nobody(client: Client, article: Article) -> None:
    fields = cards_of(client.get("/"))[article.pk].one("form", data_verdict="liked").fields()
    assert (fields["reader"], fields["next"]) == ("", "/")


def test_match_and_reasons_follow_the_marks(site: Client, reader: User) -> None:
    rust, css = ArticleFactory.create_batch(4, tags=["rust"]), ArticleFactory.create_batch(4, tags=["css"])
    assert not page_of(site.get("/")).all("rect", class_="bar")
    for article in rust[:3]:
        mark(reader, article, liked=True)
    mark(reader, css[0], not_interested=True)
    response = site.get("/")
    cards = cards_of(response)
    like, unlike = cards[rust[3].pk], cards[css[3].pk]
    matches = [int(card.one("rect", class_="bar").attributes["width"]) for card in (like, unlike)]
    assert matches[0] > matches[1]
    assert f"{matches[0]}% match" in like.text
    assert re.fullmatch("because you liked: .*rust.*", like.one("p", class_="note").text)
    assert re.fullmatch("less: .*css.*", unlike.one("p", class_="note").text)
    assert page_of(response).one("p", class_="lead").text == "Ranked from your 4 marks"


def test_a_second_readers_marks_rank_nothing_here(site: Client, other_reader: User, article: Article) -> None:
    mark(other_reader, article, liked=True)
    response = site.get("/")
    assert page_of(response).one("p", class_="lead").text == "Hot now. Like what you want more of."
    card = cards_of(response)[article.pk]
    assert (card.attributes["data-liked"], card.attributes["data-like-count"]) == ("false", "1")


def test_tabs_show_what_this_reader_said(site: Client, reader: User, other_reader: User) -> None:
    plain, liked, hidden = ArticleFactory.create_batch(3)
    for user, other in ((reader, False), (other_reader, True)):
        mark(user, liked, liked=not other, not_interested=other)
        mark(user, hidden, liked=other, not_interested=not other)
    shown = {view: set(cards_of(site.get(f"/?view={view}"))) for view in ("for-you", "latest", "liked", "not-interested")}
    without_hidden = {plain.pk, liked.pk}
    assert shown == {"for-you": without_hidden, "latest": without_hidden, "liked": {liked.pk}, "not-interested": {hidden.pk}}


def test_every_card_of_not_interested_is_folded_with_undo(site: Client, reader: User) -> None:
    for article in ArticleFactory.create_batch(3):
        mark(reader, article, not_interested=True)
    for number, card in cards_of(site.get("/?view=not-interested")).items():
        undo = card.one("p", class_="note").one("button")
        assert ("data-folded" in card.attributes, undo.text, undo.attributes["form"]) == (True, "Undo", f"u{number}")
        assert card.one("form", id=f"u{number}").attributes["data-verdict"] == "undo"


def test_the_current_tab_says_so(site: Client, article: Article) -> None:
    current = {view: page_of(site.get(f"/?view={view}")).one("a", aria_current="page").text for view in ("for-you", "liked")}
    assert current == {"for-you": "For you", "liked": "Liked"}


@pytest.mark.parametrize("view", ["liked", "not-interested"])
def test_a_visitor_is_asked_to_log_in_for_the_lists_of_a_reader(client: Client, db: None, view: str) -> None:
    response = client.get(f"/?view={view}")
    assert (response.status_code, response["Location"]) == (302, f"/login/?next=/%3Fview%3D{view}")


def test_search_finds_every_word_in_title_summary_or_tag(client: Client, db: None) -> None:
    lock = ArticleFactory(title="Lock waits", summary="In a picture", tags=["postgres"])
    ArticleFactory(title="Lock files", summary="For packages", tags=["python"])
    response = client.get("/?q=LOCK+postgres+picture")
    assert set(cards_of(response)) == {lock.pk}
    assert page_of(response).one("p", class_="lead").text == "“LOCK postgres picture” Clear"
    assert page_of(response).one("input", id="q").attributes["value"] == "LOCK postgres picture"


def test_filters_by_source_tag_and_language_narrow_together(client: Client, db: None) -> None:
    feed = FeedFactory(title="Query Notes")
    wanted = ArticleFactory(feed=feed, tags=["go"], language="ja")
    ArticleFactory(feed=feed, tags=["go"], language="en")
    ArticleFactory(feed=feed, tags=["rust"], language="ja")
    ArticleFactory(tags=["go"], language="ja")
    response = client.get("/?source=Query+Notes&tag=go&lang=ja")
    assert set(cards_of(response)) == {wanted.pk}
    assert page_of(response).one("p", class_="lead").text == "Query Notes · #go · 日本語 Clear"
    chosen = [option.text for option in page_of(response).all("option", selected="")]
    assert chosen == ["Query Notes", "go", "日本語"]


def test_source_and_tag_of_a_card_narrow_the_list_it_stands_on(client: Client, db: None) -> None:
    article = ArticleFactory(feed=FeedFactory(title="A & B"), tags=["c++"])
    links = cards_of(client.get("/?view=latest&kept=1"))[article.pk].one("p", class_="meta").all("a")
    queries = [parse_qs(urlsplit(unescape(link.attributes["href"])).query) for link in links]
    assert queries == [{"view": ["latest"], "source": ["A & B"]}, {"view": ["latest"], "tag": ["c++"]}]


def test_more_goes_on_where_the_page_ended(client: Client, db: None) -> None:
    newest_first = [article.pk for article in ArticleFactory.create_batch(35)]
    first = client.get("/?view=latest&kept=3")
    more = page_of(first).one("a", rel="next")
    assert "kept" not in more.attributes["href"]
    second = client.get("/" + more.attributes["href"])
    assert ([*cards_of(first), *cards_of(second)], page_of(second).all("a", rel="next")) == (newest_first, [])


@pytest.mark.parametrize(
    ("address", "heading"),
    [
        ("/", "No articles yet"),
        ("/?view=liked", "Nothing liked yet"),
        ("/?view=not-interested", "Nothing hidden"),
        ("/?q=borrow+chekcer", "No article matches “borrow chekcer”"),
        ("/?tag=nothing", "No article fits this filter"),
    ],
)
def test_an_empty_list_says_why_and_where_to_go(site: Client, address: str, heading: str) -> None:
    assert page_of(site.get(address)).one("h1").text == heading


def test_an_empty_search_offers_its_single_words(client: Client, db: None) -> None:
    links = page_of(client.get("/?view=latest&q=borrow+chekcer")).one("div", class_="blank").all("a")
    offered = {link.text: link.attributes["href"] for link in links}
    assert offered == {
        "Search for “borrow”": "?view=latest&q=borrow",
        "Search for “chekcer”": "?view=latest&q=chekcer",
        "Clear the search": "/?view=latest",
    }


@pytest.mark.parametrize("query", ["view=trending", "cursor=broken", "kept=x", "q=%00", f"q={'x' * 201}"])
def test_an_address_that_cannot_be_read_is_a_page_with_a_way_back(client: Client, db: None, query: str) -> None:
    response = client.get(f"/?{query}")
    assert response.status_code == 400
    assert page_of(response).one("a", class_="button main").attributes["href"] == "/"


def test_a_title_cannot_break_out_of_the_page(client: Client, db: None) -> None:
    text = "</script><script>alert(1)</script>\" onload='x'"
    article = ArticleFactory(title=text, summary=text, tags=[], feed=FeedFactory(title=text))
    response = client.get("/", {"q": "alert", "tag": '"><i>'})
    assert (cards_of(response), page_of(response).all("i")) == ({}, [])
    card = cards_of(client.get("/"))[article.pk]
    assert (card.one("h2").text, card.one("p", class_="summary").text) == (text, text)


def test_the_page_is_one_readers_and_keeps_the_back_forward_cache(site: Client, client: Client, article: Article) -> None:
    for response in (site.get("/"), Client().get("/")):
        assert response["Cache-Control"] == "private, no-cache"
        assert "Cookie" in response["Vary"]


def test_the_script_gets_its_data_and_no_inline_code(site: Client, reader: User, article: Article) -> None:
    response = site.get("/")
    scripts = page_of(response).all("script")
    assert [script.attributes.get("type") for script in scripts] == ["module", "module", "application/json"]
    assert json.loads(scripts[2].text)["reader"] == reader.pk
    assert not [child for script in scripts[:2] for child in script.children if child]
    assert "style=" not in response.content.decode()


def test_one_status_region_stands_on_the_page_from_the_start(site: Client, article: Article) -> None:
    region = page_of(site.get("/")).one("p", role="status")
    assert (region.attributes["id"], region.text) == ("status", "")


@pytest.mark.parametrize("cards", [1, 30])
@pytest.mark.parametrize("view", ["for-you", "latest", "liked", "not-interested"])
def test_statements_do_not_grow_with_the_cards(site: Client, reader: User, view: str, cards: int) -> None:
    for number, article in enumerate(ArticleFactory.create_batch(cards)):
        mark(reader, article, liked=number % 2 == 0, not_interested=number % 2 == 1)
    with CaptureQueriesContext(connection) as captured:
        assert site.get(f"/?view={view}").status_code == 200
    assert len(captured) <= 6
