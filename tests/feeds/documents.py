"""Feed documents for tests, made to measure."""

from xml.sax.saxutils import escape


def rss(*items: str, title: str = "Sample feed", language: str = "en", encoding: str = "utf-8") -> bytes:
    document = f'<?xml version="1.0" encoding="{encoding}"?><rss version="2.0"><channel><title>{escape(title)}</title>'
    document += f"<link>https://feed.example/</link><language>{language}</language>{''.join(items)}</channel></rss>"
    return document.encode(encoding)


def item(
    title: str | None = "A story",
    link: str | None = "https://feed.example/story",
    guid: str | None = None,
    date: str | None = "Mon, 05 Jan 2026 10:00:00 GMT",
    summary: str = "",
    tags: tuple[str, ...] = (),
) -> str:
    """One RSS item; None leaves its element out. Texts are escaped once, as XML asks."""
    parts = [("title", title), ("link", link), ("pubDate", date), ("description", summary or None)]
    elements = [f"<{name}>{escape(text)}</{name}>" for name, text in parts if text is not None]
    elements += [f"<category>{escape(tag)}</category>" for tag in tags]
    if guid is not None:
        elements.append(f'<guid isPermaLink="false">{escape(guid)}</guid>')
    return f"<item>{''.join(elements)}</item>"


def atom(*entries: str) -> bytes:
    head = '<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en"><title>Atom sample</title><id>urn:feed</id>'
    return f'{head}<link href="https://atom.example/"/>{"".join(entries)}</feed>'.encode()
