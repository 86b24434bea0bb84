"""How well an article fits a reader: features → corpus → taste → match and reasons.

A centred profile: what the liked articles have more of than the average article. Pure: no database, no clock, no cache.
"""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean, pstdev
from typing import NamedTuple, Self

Features = Sequence[str]

KIND_WEIGHT = {"t": 2.0, "w": 1.0, "s": 1.5}  # tag, word, source
RARITY_POWER = 0.85
DOCUMENTS_FOR_RARITY = 3000
DOCUMENTS_FOR_AVERAGE = 1000
DOCUMENTS_FOR_SPREAD = 400
LIKE_HALF_LIFE_MARKS = 20
# Share of the average disliked article that is taken off the taste, reached half way after five marks.
DISLIKE_SHARE = 0.5
DISLIKE_HALF_WAY_MARKS = 5
REASONS = 3
LEAST_SPREAD = 1e-9  # below it recent articles are all alike, but for rounding

# Japanese has no spaces: katakana runs are words, kanji runs are cut into pairs, hiragana is left out. Others with their signs:
# c++, c#, .net, node.js.
KANJI = "㐀-鿿々"
LETTER = f"[^\\W_ぁ-ヿ{KANJI}]"
WORD = re.compile(rf"(?P<kanji>[{KANJI}]+)|[ァ-ヺー]{{2,}}|\.?{LETTER}+(?:['’.]{LETTER}+)*(?:\+\+|\#)?")
STOP_WORDS = frozenset(
    "a about after all also an and any are as at be been before being but by can could did do does for from get had has have how"
    " i if in into is it its just let like make me more most my new no not now of off on one only or other our out over own"
    " should show so some such than that the their them then there these they this those through to too under up us use using"
    " very via was we well were what when where which while who why will with within without would you your"
    " two three four five six seven eight nine ten".split()
)
# Names of our field that end like one.
NO_PLURALS = frozenset("alias canvas devops emacs jenkins kubernetes macos nixos pandas postgres rails redis windows".split())


def features(*, title: str, tags: Iterable[str], source: str) -> list[str]:
    """What is compared of an article: `t:tag`, `w:word` (of the title and of the tags), `s:host`; each once."""
    names = [fold(tag).strip() for tag in tags]
    found = [f"t:{name}" for name in names if name]
    found += [f"w:{word}" for text in (*names, fold(title)) for word in words(text)]
    if host := fold(source).strip().removeprefix("www."):
        found.append(f"s:{host}")
    return list(dict.fromkeys(found))


def fold(text: str) -> str:
    return unicodedata.normalize("NFKC", text).lower()


def words(text: str) -> Iterator[str]:
    for match in WORD.finditer(text):
        if run := match["kanji"]:
            yield from (run[i : i + 2] for i in range(max(1, len(run) - 1)))
        elif (word := singular(match[0])) not in STOP_WORDS and not (len(word) == 1 and word.isdigit()):
            yield word


def singular(word: str) -> str:
    """A light stem for English plurals that leaves a readable word."""
    word = word.replace("’", "'").removesuffix("'s")
    if len(word) < 4 or word.endswith(("ss", "us", "sis", "xis", "js")) or word in NO_PLURALS:
        return word
    if len(word) > 4 and word.endswith("ies"):
        return f"{word[:-3]}y"
    return word.removesuffix("s")


class Rarity(dict[str, float]):
    """The weight of a feature; one that the corpus never had weighs as the rarest of its kind."""

    def __init__(self, documents: Sequence[Features]) -> None:
        self.total = len(documents)
        seen = Counter(feature for document in documents for feature in document)
        super().__init__({feature: self.weight(feature, count) for feature, count in seen.items()})

    def __missing__(self, feature: str) -> float:
        return self.weight(feature, 0)

    def weight(self, feature: str, count: int) -> float:
        return KIND_WEIGHT[feature[0]] * math.log((self.total + 1) / (count + 0.5)) ** RARITY_POWER


@dataclass(frozen=True)
class Corpus:
    """The articles of late: how rare a feature is, what the average article is like, and some to measure a taste on."""

    weights: Rarity
    average: dict[str, float]
    recent: Sequence[Features]

    @classmethod
    def fit(cls, documents: Sequence[Features]) -> Self:
        """`documents`: the features of each article, oldest first."""
        weights = Rarity(documents[-DOCUMENTS_FOR_RARITY:])
        average = mean_vector(weights, documents[-DOCUMENTS_FOR_AVERAGE:])
        return cls(weights, average, documents[-DOCUMENTS_FOR_SPREAD:])


def scale_of(weights: Rarity, document: Features) -> float:
    """Half normalisation: a document with more features weighs more, but not as much more."""
    length = math.hypot(*map(weights.__getitem__, document))
    return length**-0.5 if length else 0.0


def mean_vector(weights: Rarity, documents: Sequence[Features], shares: Sequence[float] | None = None) -> dict[str, float]:
    """The mean of the documents' vectors, weighed by `shares` where given; empty for no documents."""
    shares = shares or [1.0] * len(documents)
    total = math.fsum(shares)
    mean: dict[str, float] = {}
    for document, share in zip(documents, shares, strict=True):
        factor = share / total * scale_of(weights, document)
        for feature in document:
            mean[feature] = mean.get(feature, 0.0) + factor * weights[feature]
    return mean


class Score(NamedTuple):
    """`value`: higher fits better. `z`: value in standard deviations from a recent article's. `contributions` add up to `value`.

    `match`: the chance in percent (1–99) that the reader would like it if half of all articles were to their taste; None before
    the first like.
    """

    value: float
    z: float
    match: int | None
    contributions: dict[str, float]


def centred_profile(corpus: Corpus, likes: Sequence[Features], not_interested: Sequence[Features]) -> dict[str, float]:
    """The mean like, newer ones counting more, less the average article, less a share of the mean disliked one."""
    shares = [0.5 ** (age / LIKE_HALF_LIFE_MARKS) for age in reversed(range(len(likes)))]
    dislike = DISLIKE_SHARE * len(not_interested) / (len(not_interested) + DISLIKE_HALF_WAY_MARKS)
    taste = mean_vector(corpus.weights, likes, shares)
    for share, part in ((1.0, corpus.average), (dislike, mean_vector(corpus.weights, not_interested))):
        for feature, amount in part.items():
            taste[feature] = taste.get(feature, 0.0) - share * amount
    return taste


def strongest(shares: list[tuple[float, str]]) -> tuple[str, ...]:
    """The features of the largest shares; a tag and the word that it is, in the singular or plural, are one.

    A single character is left out: no reader would understand it as a reason.
    """
    first: dict[str, str] = {}
    for _share, feature in sorted(shares, reverse=True):
        if feature[0] == "w" and len(feature) == len("w:x"):
            continue
        first.setdefault(feature[2:].rstrip("s"), feature)
        if len(first) == REASONS:
            break
    return tuple(first.values())


@dataclass(frozen=True)
class Leaning:
    """Why an article stands where it stands: by feature, how much speaks for it (`wanted`) and against it (`unwanted`).

    Small enough to be kept: features of liked articles, and of articles marked not interested.
    """

    wanted: dict[str, float]
    unwanted: dict[str, float]

    def reasons(self, document: Features) -> tuple[str, ...]:
        """The features that speak most for this one, at most three."""
        return strongest([(self.wanted[feature], feature) for feature in document if feature in self.wanted])

    def marks_against(self, document: Features) -> tuple[str, ...]:
        """The features of articles marked not interested that speak most against this one, at most three."""
        return strongest([(self.unwanted[feature], feature) for feature in document if feature in self.unwanted])


@dataclass(frozen=True)
class Taste:
    """What one reader's marks say. `pull`: by feature, how much the taste wants it times its weight. `likes`: how many."""

    corpus: Corpus
    pull: dict[str, float]
    disliked: frozenset[str]
    likes: int

    @classmethod
    def fit(cls, corpus: Corpus, *, likes: Sequence[Features], not_interested: Sequence[Features]) -> Self:
        """`likes`, `not_interested`: the features of the marked articles, in the order of the marks, oldest first."""
        taste = centred_profile(corpus, likes, not_interested)
        pull = {feature: amount * corpus.weights[feature] for feature, amount in taste.items()}
        return cls(corpus, pull, frozenset().union(*not_interested), len(likes))

    @property
    def leaning(self) -> Leaning:
        wanted = {feature: pull for feature, pull in self.pull.items() if pull > 0}
        return Leaning(wanted, {feature: -self.pull[feature] for feature in self.disliked if self.pull[feature] < 0})

    @cached_property
    def recent(self) -> tuple[float, float]:
        """Mean and standard deviation of recent articles' values."""
        values = [sum(self.contributions(document).values()) for document in self.corpus.recent] or [0.0]
        return fmean(values), pstdev(values)

    def contributions(self, document: Features, scale: float | None = None) -> dict[str, float]:
        pull, scale = self.pull, scale_of(self.corpus.weights, document) if scale is None else scale
        return {feature: scale * pull[feature] for feature in document if feature in pull}

    def score(self, document: Features, scale: float | None = None) -> Score:
        """`scale`: the document's own, where the caller has kept it."""
        contributions = self.contributions(document, scale)
        value = sum(contributions.values())
        centre, spread = self.recent
        z = (value - centre) / spread if spread > LEAST_SPREAD else 0.0
        return Score(value, z, self.match(z), contributions)

    def match(self, z: float) -> int | None:
        """100 · sigmoid(n/(n+4) · (1.2 z − 0.8)), from 1 to 99; n likes."""
        if not self.likes:
            return None
        trust = self.likes / (self.likes + 4)
        percent = 50 + 50 * math.tanh(trust * (1.2 * z - 0.8) / 2)  # the sigmoid, which overflows if written with exp
        return min(99, max(1, round(percent)))
