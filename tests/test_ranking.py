"""articles.ordering and articles.ranking: the orders, one reader's scores, and when they are computed again."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from django.core.cache import cache
from django.core.cache.backends.locmem import LocMemCache
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from articles.lists import ListQuery, list_page
from articles.models import Article, Profile, User
from articles.ordering import RUN, SAME_SOURCE_IN_RUN, heat, recency, spread_sources
from articles.ranking import NO_LEANING, NOTHING_SAID, Fit, Scores, current_scores, hot_order
from articles.snapshot import read_present
from feedback.models import Verdict
from feedback.services import apply_feedback
from feedback.verdicts import Wish
from tests.factories import ArticleFactory, FeedbackFactory, FeedFactory, UserFactory, ago, profile_of

DAY = 24 * 3600
ranked = st.lists(st.sampled_from("AAAABBCD"), max_size=60).map(lambda sources: list(enumerate(sources)))


# Orders


@given(ranked)
def test_no_source_stands_more_than_three_times_in_a_run_of_ten_while_others_remain(ranked):
    spread = list(spread_sources(ranked, lambda item: item[1]))
    assert sorted(spread) == ranked
    for place, (_number, source) in enumerate(spread):
        above = [other for _n, other in spread[max(0, place - RUN + 1) : place]]
        others = {other for _n, other in spread[place:] if above.count(other) < SAME_SOURCE_IN_RUN}
        assert above.count(source) < SAME_SOURCE_IN_RUN or not others


@given(ranked)
def test_within_one_source_the_order_stays(ranked):
    spread = list(spread_sources(ranked, lambda item: item[1]))
    assert sorted(spread, key=lambda item: item[1]) == sorted(ranked, key=lambda item: item[1])


@given(ranked, st.integers(0, 60))
def test_a_page_continues_the_spread_of_the_page_before(ranked, cut):
    whole = list(spread_sources(ranked, lambda item: item[1]))
    rest = [item for item in ranked if item not in whole[:cut]]
    assert list(spread_sources(rest, lambda item: item[1], [source for _n, source in whole[:cut]])) == whole[cut:]


def test_a_well_mixed_order_is_left_alone():
    assert "".join(spread_sources("ABCABCABCABC", str)) == "ABCABCABCABC"
    assert "".join(spread_sources("AAAAABCDEFGHI", str)) == "AAABCDEFGHAAI"


def test_recency_halves_in_three_days_and_needs_no_clock():
    fresh, older, oldest = recency([9 * DAY, 6 * DAY, 0.0])
    assert (fresh - older) / (older - oldest) == pytest.approx((1 - 0.5) / (0.5 - 0.125))
    assert recency([1e6 + 9 * DAY, 1e6 + 6 * DAY, 1e6]) == pytest.approx([fresh, older, oldest])
    assert recency([]) == []
    assert recency([5.0, 5.0]) == [0.0, 0.0]


def test_ten_times_the_likes_outweigh_twenty_two_hours():
    assert heat(99, 0) == pytest.approx(heat(9, 22 * 3600))
    assert heat(100, 0) > heat(9, 22 * 3600)
    assert heat(-1, 0) == heat(0, 0)  # a drifted counter


# One reader's scores


def like(reader: User, article: Article, liked: bool = True) -> None:
    apply_feedback(profile_id=reader.pk, article_id=article.pk, wish=Wish(liked=liked))


def refuse(reader: User, article: Article, not_interested: bool = True) -> None:
    apply_feedback(profile_id=reader.pk, article_id=article.pk, wish=Wish(not_interested=not_interested))


def about(tag: str, **fields: Any) -> Article:
    return ArticleFactory(tags=[tag], **fields)


@pytest.fixture
def shelf(db: None) -> dict[str, list[Article]]:
    """Five articles about each of four things, from one feed and of one age."""
    feed, at = FeedFactory(), ago(hours=1)
    return {tag: [about(tag, feed=feed, published_at=at) for _number in range(5)] for tag in ("rust", "go", "css", "crypto")}


@contextmanager
def computations() -> Iterator[list[str]]:
    """The statements that read this or that reader's marks: one for each time that scores are computed."""
    found: list[str] = []
    with CaptureQueriesContext(connection) as statements:
        yield found
    found += [query["sql"] for query in statements if '"features"' in query["sql"] and "feedback" in query["sql"]]


def fit(scores: Scores, article: Article) -> Fit:
    return scores.fit(article.pk, article.features)


def tag_order(reader: User) -> list[str]:
    """The tags of the ranking, best first, each where it first appears."""
    tags = dict(Article.objects.values_list("pk", "tags"))
    return list(dict.fromkeys(tags[article][0] for article in current_scores(reader).matches))


def test_liked_things_rank_first_and_refused_things_last(shelf, reader, other_reader):
    like(reader, shelf["rust"][0])
    refuse(reader, shelf["crypto"][0])
    like(other_reader, shelf["crypto"][1])
    assert (tag_order(reader)[0], tag_order(reader)[-1]) == ("rust", "crypto")
    assert tag_order(other_reader)[0] == "crypto"


def test_likes_of_others_only_break_ties(shelf, reader, other_reader):
    like(reader, shelf["rust"][0])
    for article in (shelf["go"][3], *shelf["css"]):
        like(other_reader, article)
    Article.objects.update(features=["t:same"])
    Article.objects.filter(pk__in=[article.pk for article in shelf["rust"]]).update(features=["t:rust"])
    places = {article: place for place, article in enumerate(current_scores(reader).matches)}
    assert max(places[article.pk] for article in shelf["rust"]) == 4
    assert {places[article.pk] for article in (shelf["go"][3], *shelf["css"])} == set(range(5, 11))


def test_scores_name_match_reasons_and_what_is_hidden(shelf, reader, other_reader):
    like(reader, shelf["rust"][0])
    refuse(reader, shelf["crypto"][0])
    scores = current_scores(reader)
    match, reasons, against = fit(scores, shelf["rust"][1])
    assert match is not None
    assert match > 50
    assert (reasons[0], against) == ("t:rust", ())
    match, reasons, against = fit(scores, shelf["crypto"][1])
    assert match is not None
    assert match < 50
    assert against[0] == "t:crypto"
    assert (scores.hidden, scores.marks) == (frozenset({shelf["crypto"][0].pk}), 2)
    assert current_scores(other_reader) == NOTHING_SAID == current_scores(None)


def test_a_like_of_yesterday_goes_from_for_you_and_still_makes_the_taste(shelf, reader, other_reader, time_machine):
    old, new = shelf["rust"][:2]
    like(reader, old)
    like(other_reader, old)
    time_machine.move_to(timezone.now() + timedelta(hours=25))
    like(reader, new)
    scores = current_scores(reader)
    assert (scores.hidden, scores.marks) == (frozenset({old.pk}), 2)
    assert "t:rust" in fit(scores, shelf["rust"][2]).reasons
    listed = [card.id for card in list_page(ListQuery(), reader).cards]
    assert (old.pk in listed, new.pk in listed) == (False, True)
    for view in ("liked", "latest"):
        assert old.pk in [card.id for card in list_page(ListQuery(view), reader).cards]


def test_there_are_no_figures_before_the_first_like(shelf, reader):
    refuse(reader, shelf["crypto"][0])
    assert current_scores(reader) == Scores({}, NO_LEANING, frozenset({shelf["crypto"][0].pk}), 1)


def test_empty_verdicts_are_no_marks(shelf, reader):
    FeedbackFactory(profile=profile_of(reader), article=shelf["go"][0], verdict=Verdict.NONE)
    assert current_scores(reader) == NOTHING_SAID


def test_undoing_a_mark_restores_the_very_same_figures(shelf, reader):
    like(reader, shelf["rust"][0])
    refuse(reader, shelf["crypto"][0])
    before = current_scores(reader)
    like(reader, shelf["css"][0])
    assert current_scores(reader) != before
    like(reader, shelf["css"][0], liked=False)
    assert current_scores(reader) == before
    refuse(reader, shelf["go"][0])
    refuse(reader, shelf["go"][0], not_interested=False)
    assert current_scores(reader) == before


def test_a_mark_counts_after_its_article_left_the_snapshot(shelf, reader, monkeypatch):
    old = about("css", published_at=ago(days=30))
    like(reader, old)
    monkeypatch.setattr("articles.snapshot.SNAPSHOT_SIZE", 20)
    about("go")  # a new article: a new snapshot
    assert old.pk not in current_scores(reader).matches
    assert len(current_scores(reader).matches) == 20
    assert tag_order(reader)[0] == "css"


def test_marks_count_in_the_order_in_which_they_were_made(shelf, reader, other_reader):
    """By `marked_at`, not by id: here the newer row has the older mark."""
    for who, days in ((reader, 1), (other_reader, -1)):
        for number, tag in enumerate(["go"] * 5 + ["css"] * 5):
            FeedbackFactory(
                profile=profile_of(who),
                article=shelf[tag][number % 5],
                marked_at=ago(days=days * (number if tag == "css" else 0)),
            )
    assert (tag_order(reader)[0], tag_order(other_reader)[0]) == ("go", "css")


# When they are computed


def test_twenty_unchanged_repeats_compute_nothing(shelf, reader):
    like(reader, shelf["rust"][0])
    first = current_scores(reader)
    with computations() as computed:
        for _time in range(20):
            like(reader, shelf["rust"][0])
            assert current_scores(reader) == first
    assert computed == []


def test_one_reader_s_mark_computes_nothing_for_another(shelf, reader, other_reader):
    like(other_reader, shelf["go"][0])
    current_scores(other_reader)
    with computations() as computed:
        like(reader, shelf["rust"][0])
        current_scores(other_reader)
    assert computed == []


def test_a_new_article_is_ranked_at_once(shelf, reader):
    like(reader, shelf["rust"][0])
    current_scores(reader)
    new = about("rust")
    assert new.pk in current_scores(reader).matches


def test_an_article_under_the_id_of_a_deleted_one_is_a_new_article(shelf, reader):
    """SQLite gives the id of a rolled back row out again."""
    like(reader, shelf["rust"][0])
    number = shelf["crypto"][4].pk
    low = current_scores(reader).matches[number]
    Article.objects.filter(pk=number).delete()
    about("rust", pk=number)
    assert (current_scores(reader).matches[number] or 0) > 50 > (low or 0)


def test_the_snapshot_is_read_again_when_it_is_old(shelf, reader, monkeypatch):
    like(reader, shelf["rust"][0])
    current_scores(reader)
    Article.objects.filter(pk=shelf["css"][0].pk).update(features=shelf["rust"][0].features)
    cache.clear()
    assert shelf["css"][0].pk not in list(current_scores(reader).matches)[:6]
    cache.clear()
    monkeypatch.setattr("articles.snapshot.SNAPSHOT_SECONDS", 0)
    assert shelf["css"][0].pk in list(current_scores(reader).matches)[:6]


def test_likes_reach_the_hot_order_at_once(shelf, reader):
    present = read_present(None)
    hot_order(present)
    for verdict, first in ((True, shelf["css"][2].pk), (False, shelf["crypto"][4].pk)):
        like(reader, shelf["css"][2], liked=verdict)
        assert hot_order(read_present(None)).ids[0] == first


def test_b39_a_save_that_is_rolled_back_leaves_the_scores_and_their_cache_alone(shelf, reader):
    like(reader, shelf["rust"][0])
    before = current_scores(reader)

    def fail() -> None:
        with transaction.atomic():
            like(reader, shelf["go"][0])
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    with computations() as computed:
        assert current_scores(reader) == before
    assert computed == []
    assert not shelf["go"][0].feedback.filter(verdict=Verdict.LIKED).exists()


class ForgetfulCache(LocMemCache):
    """Every key is there when asked for, and gone when read."""

    def has_key(self, key: str, version: int | None = None) -> bool:
        return True

    def get(self, key: str, default: Any = None, version: int | None = None) -> Any:
        return default


def test_b41_a_key_that_vanishes_between_check_and_read_is_computed_again(shelf, reader, settings):
    like(reader, shelf["rust"][0])
    kept = current_scores(reader)
    settings.CACHES = {"default": {"BACKEND": "tests.test_ranking.ForgetfulCache"}}
    assert cache.get("anything") is None
    assert current_scores(reader) == kept


def test_b43_only_changes_compute_scores_again(shelf, reader):
    with computations() as computed:
        like(reader, shelf["rust"][0])
        current_scores(reader)
    assert len(computed) == 1
    with computations() as computed:
        for _time in range(5):
            like(reader, shelf["rust"][0])
            current_scores(reader)
    assert computed == []
    with computations() as computed:
        like(reader, shelf["rust"][0], liked=False)
        current_scores(reader)
        current_scores(reader)
    assert len(computed) == 1


@pytest.mark.parametrize("number", [1, 2, 3])
def test_scores_of_old_marks_are_never_kept_under_a_new_version(shelf, reader, number):
    """A like lands after the first, second or third statement of a list: the next list knows it."""
    like(reader, shelf["rust"][0])
    cache.clear()
    executed = 0

    def like_in_between(execute: Callable[..., Any], *call: Any) -> Any:
        nonlocal executed
        result = execute(*call)
        executed += 1
        if executed == number:
            like(reader, shelf["go"][0])
        return result

    with connection.execute_wrapper(like_in_between):
        current_scores(reader)
    like(reader, shelf["go"][0])
    assert current_scores(reader).marks == 2


@pytest.mark.django_db(transaction=True)
def test_readers_at_once_load_one_snapshot():
    articles = ArticleFactory.create_batch(3)
    readers = UserFactory.create_batch(4)
    barrier, found = threading.Barrier(len(readers)), []

    def read(reader: User) -> None:
        barrier.wait()
        found.append(read_present(reader))
        connection.close()

    threads = [threading.Thread(target=read, args=[reader]) for reader in readers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [present.just_loaded for present in found].count(True) == 1
    assert {id(present.snapshot) for present in found} == {id(found[0].snapshot)}
    assert {entry.id for entry in found[0].snapshot.entries} == {article.pk for article in articles}
    assert not Profile.objects.exists()  # reading makes none
