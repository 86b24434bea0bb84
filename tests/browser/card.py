"""One card on a page, as a reader sees and uses it; and what the server holds of it."""

from playwright.sync_api import Locator, Page, expect

from articles.models import Article, User
from feedback.models import Feedback, Verdict

PRESSED = {True: "true", False: "false"}


class Card:
    """The card of one article in one tab."""

    def __init__(self, page: Page, article: Article) -> None:
        self.page, self.article = page, article
        self.root = page.locator(f"#article-{article.pk}")
        self.note = self.root.locator(".note")
        self.summary = self.root.locator(".summary")
        self.count = self.root.locator(".count")

    @property
    def like(self) -> Locator:
        return self.root.get_by_role("button", name="Like", exact=True)

    @property
    def not_interested(self) -> Locator:
        return self.root.get_by_role("button", name="Not interested", exact=True)

    def button(self, name: str) -> Locator:
        """A button of the note row: Retry, Undo, Reload, Log in to save."""
        return self.note.get_by_role("button", name=name, exact=True)

    def shows(self, verdict: Verdict, likes: int, note: str | None = None) -> None:
        """Wait until the card shows this, folded or not; `note`: the row's words, its button's with them."""
        is_folded = verdict == Verdict.NOT_INTERESTED
        expect(self.page.locator(f"#article-{self.article.pk}[data-folded]")).to_have_count(int(is_folded))
        expect(self.like).to_have_attribute("aria-pressed", PRESSED[verdict == Verdict.LIKED])
        expect(self.not_interested).to_have_attribute("aria-pressed", PRESSED[is_folded])
        expect(self.count).to_have_text(f"{likes} {'like' if likes == 1 else 'likes'}")
        if note is not None:
            expect(self.note).to_have_text(note)

    def rests(self, verdict: Verdict, likes: int) -> None:
        """Wait until nothing is open any more, and the card shows this."""
        expect(self.root).to_have_attribute("data-state", "idle")
        expect(self.root.locator("[aria-busy]")).to_have_count(0)
        self.shows(verdict, likes)
        expect(self.summary).to_be_visible(visible=verdict != Verdict.NOT_INTERESTED)

    def waits(self) -> None:
        """Wait until a send has failed and its repeat is due: on the page both look the same."""
        self.page.wait_for_function("(card) => card.card.phase === 'waiting'", arg=self.root.element_handle())

    @property
    def address(self) -> str:
        """A pattern of the addresses to which this card's presses are sent."""
        return rf"^/api/articles/{self.article.pk}/"

    def says(self, text: str) -> None:
        """Wait until the page's status region says this of the article."""
        expect(self.page.get_by_role("status")).to_have_text(f"{self.article.title}: {text}")


def stored(article: Article, reader: User) -> tuple[Verdict, int, int]:
    """What the server holds: the reader's verdict, the number of like rows, the article's counter."""
    row = Feedback.objects.filter(article=article, profile_id=reader.pk).first()
    likes = Feedback.objects.filter(article=article, verdict=Verdict.LIKED).count()
    return Verdict(row.verdict if row else ""), likes, Article.objects.get(pk=article.pk).like_count
