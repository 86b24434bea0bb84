"""A rendered page as a reader finds it: its cards, their buttons and what the forms would send."""

from dataclasses import dataclass, field
from html.parser import HTMLParser

from django.http import HttpResponse

VOID = {"input", "meta", "link", "br", "img", "use", "path", "rect", "circle"}
SENT_BY_EVERY_FORM = ("csrfmiddlewaretoken", "next", "reader")


@dataclass
class Element:
    tag: str
    attributes: dict[str, str]
    children: list["Element | str"] = field(default_factory=list)

    @property
    def text(self) -> str:
        """All text in it, white space collapsed."""
        return " ".join(self.raw_text.split())

    @property
    def raw_text(self) -> str:
        return "".join(child if isinstance(child, str) else child.raw_text for child in self.children)

    def all(self, tag: str, **attributes: str) -> list["Element"]:
        """The elements of this tag below this one with these attributes, in order; `class_` for class, `_` for `-`."""
        wanted = {name.rstrip("_").replace("_", "-"): value for name, value in attributes.items()}
        found = []
        for child in self.children:
            if isinstance(child, Element):
                if child.tag == tag and wanted.items() <= child.attributes.items():
                    found.append(child)
                found += child.all(tag, **attributes)
        return found

    def one(self, tag: str, **attributes: str) -> "Element":
        (found,) = self.all(tag, **attributes)
        return found

    def fields(self) -> dict[str, str]:
        """What this form would send if no visitor typed anything."""
        controls = (control.attributes for control in self.all("input") if "name" in control.attributes)
        return {found["name"]: found.get("value", "") for found in controls}


class TreeBuilder(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.root = Element("", {})
        self.open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.open[-1].children.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open[-1].tag == tag, f"</{tag}> closes <{self.open[-1].tag}>"
            self.open.pop()

    def handle_data(self, data: str) -> None:
        self.open[-1].children.append(data)


def page_of(response: HttpResponse) -> Element:
    """The parsed page; every element of it must be closed in order."""
    builder = TreeBuilder()
    builder.feed(response.content.decode())
    builder.close()
    assert builder.open == [builder.root], [element.tag for element in builder.open]
    return builder.root


def cards_of(response: HttpResponse) -> dict[int, Element]:
    """The cards by article, in the order of the page."""
    return {int(card.attributes["data-article"]): card for card in page_of(response).all("article-card")}


def verdict_form(card: Element, verdict: str) -> dict[str, str]:
    """The members of a card's form, without the ones that every form carries."""
    fields = card.one("form", data_verdict=verdict).fields()
    return {name: value for name, value in fields.items() if name not in SENT_BY_EVERY_FORM}
