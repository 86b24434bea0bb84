"""articles.scoring: what is compared, what a taste makes of it, and that the reasons are the figure."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from articles.scoring import Corpus, Score, Taste, features

TAGS = ["rust", "go", "css", "crypto", "postgres", "testing"]
HOSTS = ["blog.example", "news.example", "lab.example"]


def made(tag: str, number: int, host: str = "blog.example") -> list[str]:
    return features(title=f"Story {number}", tags=[tag], source=host)


def stories(seed: int, count: int = 300) -> list[list[str]]:
    chance = random.Random(seed)
    return [made(chance.choice(TAGS), number, chance.choice(HOSTS)) for number in range(count)]


CORPUS = Corpus.fit(stories(1))
documents = st.lists(st.sampled_from(stories(2)), max_size=12)


def test_features_are_tags_their_words_title_words_and_the_host_each_once():
    found = features(title="Rust's APIs: rust for the Web", tags=["api-design", "Rust"], source="WWW.Example.com")
    assert found == ["t:api-design", "t:rust", "w:api", "w:design", "w:rust", "w:web", "s:example.com"]


@pytest.mark.parametrize(
    ("title", "words"),
    [
        ("C++, C# and .NET beside node.js", ["c++", "c#", ".net", "beside", "node.js"]),
        ("Libraries, databases and class caches", ["library", "database", "class", "cache"]),
        ("Postgres, Kubernetes, Redis and analysis", ["postgres", "kubernetes", "redis", "analysis"]),
        ("RustでつくるTCPプロキシ、応答が消えたとき", ["rust", "tcp", "プロキシ", "応答", "消"]),
        ("分散型データベース設計", ["分散", "散型", "データベース", "設計"]),
        ("ＡＰＩ ﾌﾟﾛｷｼ", ["api", "プロキシ"]),
        ("Обзор Пайтона", ["обзор", "пайтона"]),
        ("the of 7 !?", []),
        ("", []),
    ],
)
def test_words_of_a_title(title: str, words: list[str]):
    assert features(title=title, tags=[], source="") == [f"w:{word}" for word in words]


def test_empty_tags_and_a_missing_source_are_no_features():
    assert features(title="", tags=["", "  "], source=" ") == []


@given(likes=documents, not_interested=documents, document=st.sampled_from(stories(3)))
def test_contributions_are_the_value(likes, not_interested, document):
    score = Taste.fit(CORPUS, likes=likes, not_interested=not_interested).score(document)
    assert sum(score.contributions.values()) == score.value
    assert set(score.contributions) <= set(document)


@given(likes=documents.filter(bool), not_interested=documents, one=st.sampled_from(stories(3)), two=st.sampled_from(stories(4)))
def test_a_better_value_never_has_a_lower_match(likes, not_interested, one, two):
    taste = Taste.fit(CORPUS, likes=likes, not_interested=not_interested)
    low, high = sorted([taste.score(one), taste.score(two)], key=lambda score: score.value)
    assert low.match is not None
    assert high.match is not None
    assert 1 <= low.match <= high.match <= 99


@given(not_interested=documents, document=st.sampled_from(stories(3)))
def test_there_is_no_figure_before_the_first_like(not_interested, document):
    taste = Taste.fit(CORPUS, likes=[], not_interested=not_interested)
    assert taste.score(document).match is None
    assert taste.leaning.reasons(document) == ()


def score(tag: str, *, likes: list[list[str]], not_interested: list[list[str]]) -> Score:
    return Taste.fit(CORPUS, likes=likes, not_interested=not_interested).score(made(tag, 999))


def test_what_is_like_the_likes_scores_above_the_rest_and_what_was_refused_below():
    likes, refused = [made("rust", 1), made("rust", 2), made("go", 3)], [made("crypto", 4)]
    rust, go, css, crypto = (score(tag, likes=likes, not_interested=refused).value for tag in ("rust", "go", "css", "crypto"))
    assert rust > go > css > crypto


def test_newer_likes_weigh_more():
    old, new = [made("css", number) for number in range(30)], [made("go", number) for number in range(30)]
    assert score("go", likes=old + new, not_interested=[]).value > score("css", likes=old + new, not_interested=[]).value
    assert score("go", likes=new + old, not_interested=[]).value < score("css", likes=new + old, not_interested=[]).value


def test_more_likes_make_the_figure_bolder():
    few, many = ([made("rust", number) for number in range(count)] for count in (1, 20))
    assert (
        50 < (score("rust", likes=few, not_interested=[]).match or 0) < (score("rust", likes=many, not_interested=[]).match or 0)
    )


def test_reasons_are_the_strongest_liked_features_and_name_a_tag_once():
    taste = Taste.fit(CORPUS, likes=[made("postgres", 1), made("rust", 2)], not_interested=[made("crypto", 3, "news.example")])
    fits = features(title="Postgres crypto", tags=["postgres", "rust"], source="lab.example")
    assert set(taste.leaning.reasons(fits)) == {"t:postgres", "t:rust"}
    assert taste.leaning.marks_against(fits) == ("w:crypto",)
    against = features(title="", tags=["crypto"], source="news.example")
    assert taste.leaning.reasons(against) == ()
    assert taste.leaning.marks_against(against) == ("t:crypto", "s:news.example")


def test_a_plural_tag_and_its_word_are_one_reason():
    liked = features(title="Compilers", tags=["compilers"], source="")
    taste = Taste.fit(CORPUS, likes=[liked], not_interested=[])
    assert taste.leaning.reasons(liked) == ("t:compilers",)


def test_features_that_the_corpus_never_had_count_as_the_rarest():
    weights = CORPUS.weights
    assert weights["t:never-seen"] > max(weight for feature, weight in weights.items() if feature.startswith("t:"))


@pytest.mark.parametrize("corpus", [[], [[]], [made("rust", 1)], [made("rust", 1), made("rust", 1)[::-1]] * 50])
def test_a_corpus_too_small_to_measure_on_gives_a_figure_still(corpus):
    taste = Taste.fit(Corpus.fit(corpus), likes=[made("rust", 1)], not_interested=[])
    assert taste.score(made("rust", 2)).match in range(1, 100)
    assert (taste.score([]).value, taste.score([]).contributions) == (0, {})


def test_fitting_twice_gives_the_same_numbers():
    fits = [Taste.fit(Corpus.fit(stories(1)), likes=stories(5, 9), not_interested=stories(6, 4)) for _time in range(2)]
    assert [fits[0].score(story) for story in stories(7)] == [fits[1].score(story) for story in stories(7)]
