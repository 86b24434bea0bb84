"""From a body to characters: unpacked within bounds, and read by what it is rather than by what it is labelled."""

import codecs
import re
import zlib
from collections.abc import Iterator

from django.utils.translation import gettext as _

from articles.feeds import FeedError

MAX_BODY_BYTES = 5 * 1024 * 1024  # as sent, and unpacked too
GZIP_MAGIC = b"\x1f\x8b"
PACKINGS = 2  # a .gz file that a server packs once more; never without end, for a packed body can unpack to itself

# How a document in UTF-16 or UTF-32 begins, with and without its mark. The longer marks first: they begin like the shorter ones.
BEGINNINGS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
    (b"<\x00?\x00", "utf-16-le"),
    (b"\x00<\x00?", "utf-16-be"),
)
HTTP_CHARSET = re.compile(r"charset\s*=\s*[\"']?([\w.:-]+)", re.IGNORECASE)
XML_ENCODING = re.compile(rb"\s*<\?xml[^>]{1,200}?encoding\s*=\s*[\"']([\w.:-]+)")
# Labels whose everyday bytes are a larger set than Python's codec of that name.
ALIASES = {"shift_jis": "cp932", "shift-jis": "cp932", "x-sjis": "cp932", "gb2312": "gb18030", "gbk": "gb18030"}
TEXT_CODECS = ("utf", "ascii", "iso8859", "cp", "koi8", "euc", "iso2022", "shift", "gb", "big5", "mac", "tis", "hz")
JAPANESE_CODECS = ("cp932", "euc_jp")
KANA = re.compile("[ぁ-んァ-ヶ]")


def inflate(body: bytes) -> bytes:
    """The body without its gzip packing. Stops at the size limit, so a bomb never unpacks."""
    for _packing in range(PACKINGS):
        if body.startswith(GZIP_MAGIC):
            body = unpacked(body)
    if len(body) > MAX_BODY_BYTES:
        raise too_large()
    return body


def unpacked(body: bytes) -> bytes:
    try:
        return zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(body, MAX_BODY_BYTES + 1)
    except zlib.error:
        raise FeedError(_("The answer is packed with gzip, but broken.")) from None


def too_large() -> FeedError:
    return FeedError(_("The feed is larger than %(limit)d MB.") % {"limit": MAX_BODY_BYTES // 1024**2})


def decode(body: bytes, content_type: str = "") -> str:
    """The document as text. Never fails: what cannot be read becomes replacement characters.

    Bytes that are good UTF-8 beyond ASCII are UTF-8 whatever header and declaration say: no other text looks like it.
    Then the HTTP charset comes before the document's own declaration (RFC 7303), each believed only if it fits.
    """
    for beginning, codec in BEGINNINGS:
        if body.startswith(beginning):
            return body.decode(codec, "replace")
    for codec in labelled_codecs(body, content_type):
        if fits(text := body.decode(codec, "replace")):
            return text
    return guessed(body)


def labelled_codecs(body: bytes, content_type: str) -> Iterator[str]:
    if not body.isascii() and is_utf8(body):
        yield "utf-8"
    for label in (HTTP_CHARSET.search(content_type), XML_ENCODING.match(body)):
        if label and (codec := text_codec(label[1])):
            yield codec
    yield "utf-8"


def is_utf8(body: bytes) -> bool:
    try:
        body.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def text_codec(label: str | bytes) -> str | None:
    """Python's codec for a label; never one of those that are no character set ("zip", "idna")."""
    name = label.decode("ascii", "replace") if isinstance(label, bytes) else label
    try:
        codec = codecs.lookup(ALIASES.get(name.lower(), name)).name
    except LookupError:
        return None
    return codec if codec.startswith(TEXT_CODECS) else None


def fits(text: str) -> bool:
    """Whether this reading makes sense: it has a document's brackets, and few of its letters are broken."""
    broken = text.count("\N{REPLACEMENT CHARACTER}")
    beyond_ascii = len(text) - len(text.encode("ascii", "ignore"))
    return ("<" in text or "{" in text) and broken * 5 <= beyond_ascii


def guessed(body: bytes) -> str:
    """Bytes with no label that fits: Japanese if that gives kana, else the Western European that browsers assume."""
    for codec in JAPANESE_CODECS:
        text = body.decode(codec, "replace")
        if fits(text) and KANA.search(text):
            return text
    return body.decode("cp1252", "replace")
