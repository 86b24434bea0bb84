"""The shapes of the API in JSON Schema: what requests and answers are made of, and the headers that mean something."""

from typing import Any

from articles.lists import VIEWS
from feedback.serializers import MAX_SEQ

Shape = dict[str, Any]

ARTICLE_ID: Shape = {"type": "integer", "minimum": 0, "maximum": 10**18 - 1}
VERSION: Shape = {"type": "integer", "minimum": 0, "maximum": 10**18 - 1}
TIME: Shape = {"type": "string", "format": "date-time"}
FLAG: Shape = {"type": "boolean"}
COUNT: Shape = {"type": "integer", "minimum": 0}
TEXT: Shape = {"type": "string"}
TEXTS: Shape = {"type": "array", "items": TEXT}
ADDRESS_OR_NULL: Shape = {"type": ["string", "null"], "format": "uri"}

VERDICT = {"liked": FLAG, "not_interested": FLAG}
STATE = {"article": ARTICLE_ID, **VERDICT, "like_count": COUNT, "version": VERSION}
NOT_BOTH: Shape = {"not": {"properties": {name: {"const": True} for name in VERDICT}, "required": list(VERDICT)}}
ORDER = {
    "client": {"type": "string", "pattern": "^[A-Za-z0-9_-]{8,64}$", "description": "one per installation"},
    "seq": {"type": "integer", "minimum": 0, "maximum": MAX_SEQ, "description": "higher with each press, such as the time in ms"},
}


def whole(description: str, **members: Shape) -> Shape:
    """An answer that has all these members and no others."""
    return {
        "type": "object",
        "description": description,
        "properties": members,
        "required": list(members),
        "additionalProperties": False,
    }


def page_of(name: str, description: str) -> Shape:
    return whole(description, results={"type": "array", "items": ref(name)}, next=ADDRESS_OR_NULL)


def wish(field: str) -> Shape:
    both_or_neither = {"client": ["seq"], "seq": ["client"]}
    members = {"type": "object", "properties": {**VERDICT, **ORDER}, "dependentRequired": both_or_neither, **NOT_BOTH}
    return members | {"required": [field]}


def wish_or_toggle(field: str, other: str) -> Shape:
    """Without both fields; the other one alone is neither."""
    shape = wish(field) | {"description": "Without both fields it is a toggle, for old clients only."}
    shape["dependentRequired"] = {**shape["dependentRequired"], other: shape.pop("required")}
    return shape


def ref(name: str) -> Shape:
    return {"$ref": f"#/components/schemas/{name}"}


SCHEMAS: dict[str, Shape] = {
    "Card": whole(
        "One article as this reader sees it.",
        id=ARTICLE_ID,
        url={"type": "string", "format": "uri"},
        title=TEXT,
        summary=TEXT,
        source=TEXT | {"description": "the feed that told it first"},
        sources=TEXTS | {"description": "all feeds that tell it"},
        tags=TEXTS,
        published_at=TIME,
        liked=FLAG,
        not_interested=FLAG,
        like_count=COUNT,
        version=VERSION,
        match={"type": ["integer", "null"], "minimum": 1, "maximum": 99, "description": "null: nothing is known of the reader"},
        reasons=TEXTS | {"description": "why it fits: “because you liked …”"},
    ),
    "Cards": page_of("Card", "A page of a list; follow `next` until it is null."),
    "State": whole("What this reader said of the article. `version`: at which it last changed, 0 if never.", **STATE),
    "Saved": whole(
        "The state after the call. `changed`: by this very call; `stale`: a newer one of this client was here before.",
        **STATE,
        changed=FLAG,
        stale=FLAG,
    ),
    "LikeWish": wish("liked"),
    "NotInterestedWish": wish("not_interested"),
    "LikeWishOrToggle": wish_or_toggle("liked", "not_interested"),
    "NotInterestedWishOrToggle": wish_or_toggle("not_interested", "liked"),
    "ReadMark": whole("Whether this reader has read the article.", article=ARTICLE_ID, read=FLAG),
    "ReadMarkSaved": whole("The mark after the call. `changed`: by this very call.", article=ARTICLE_ID, read=FLAG, changed=FLAG),
    "ReadWish": {"type": "object", "properties": {"read": FLAG}, "required": ["read"]},
    "Change": whole("The latest verdict on one article.", article=ARTICLE_ID, **VERDICT, version=VERSION, marked_at=TIME),
    "Changes": page_of("Change", "In the order of `version`; both false where a verdict was taken back."),
    "Verdict": {
        "type": "object",
        "properties": {"article": ARTICLE_ID, "url": {"type": "string", "format": "uri"}, **VERDICT, "marked_at": TIME},
        "required": ["url", "liked", "not_interested"],
    },
    "Verdicts": {
        "type": "object",
        "description": "A file of verdicts. `url` says which article; `article` only counts where there is no url.",
        "properties": {"verdicts": {"type": "array", "items": ref("Verdict")}},
        "required": ["verdicts"],
    },
    "Remark": whole(
        "Why a verdict of the file was left out; `number` counts them from 1.",
        number={"type": "integer", "minimum": 1},
        kind={"enum": ["unknown", "invalid"]},
        reason=TEXT,
    ),
    "Report": whole(
        "What became of the verdicts of this request; at most 100 remarks. While `next` is not null send the same body there.",
        total=COUNT,
        changed=COUNT,
        unchanged=COUNT,
        unknown=COUNT,
        invalid=COUNT,
        remarks={"type": "array", "items": ref("Remark")},
        next=ADDRESS_OR_NULL,
    ),
    "Problem": {
        "type": "object",
        "description": "RFC 9457. `code` is stable and for programs, `detail` for people.",
        "properties": {
            "type": {"const": "about:blank"},
            "title": TEXT,
            "status": {"type": "integer"},
            "detail": TEXT,
            "code": TEXT,
            "errors": {"type": "object", "additionalProperties": TEXTS, "description": "by field or parameter"},
        },
        "required": ["type", "title", "status", "detail", "code"],
        "additionalProperties": False,
    },
}

SECURITY_SCHEMES: dict[str, Shape] = {
    "token": {"type": "apiKey", "in": "header", "name": "Authorization", "description": "`Token …`, made at /account/tokens/"},
    "session": {
        "type": "apiKey",
        "in": "cookie",
        "name": "sessionid",
        "description": "the page's own; a PUT or POST also needs the header X-CSRFToken with the cookie csrftoken",
    },
}

ETAG_PATTERN = '^W/"[0-9a-f]{32}"$'
HEADERS: dict[str, Shape] = {
    "Cache-Control": {"description": "whether the answer may be kept", "schema": TEXT},
    "Vary": {"description": "what the answer depends on", "schema": TEXT},
    "ETag": {
        "description": "send it back as If-None-Match and get 304 while nothing changed",
        "schema": {"type": "string", "pattern": ETAG_PATTERN},
    },
    "Content-Disposition": {"description": "the file's name", "schema": TEXT},
    "Retry-After": {"description": "seconds to wait before sending the same again", "schema": {"type": "integer", "minimum": 1}},
    "WWW-Authenticate": {"description": "how to say who you are", "schema": TEXT},
    "Idempotency-Replayed": {"description": "the saved answer to an earlier request with this key", "schema": {"const": "true"}},
    "Deprecation": {"description": "this was a toggle; since when these are deprecated (RFC 9745)", "schema": TEXT},
    "Link": {"description": "where to read how to do better", "schema": TEXT},
}


def parameter(name: str, description: str, schema: Shape, place: str = "query", **more: Any) -> Shape:
    return {"name": name, "in": place, "description": description, "schema": schema} | more


ARTICLE = parameter("article_id", "the article's number", ARTICLE_ID, "path", required=True)
READER = parameter("X-DevPick-Reader", "the id of the reader the page was made for; with a session only", TEXT, "header")
IF_NONE_MATCH = parameter("If-None-Match", "the ETag of the answer you have", TEXT, "header")
KEY = parameter(
    "Idempotency-Key",
    "a new one for each press, the same one for each repeat; makes even a toggle safe to send again",
    {"type": "string", "pattern": "^[A-Za-z0-9._:~-]{8,128}$"},
    "header",
)
FILTER: Shape = {"type": "string", "maxLength": 200}
LIST = [
    parameter("view", "which list; latest unless named", {"enum": list(VIEWS)}),
    parameter("q", "words that must all be in title, summary or tags", FILTER),
    parameter("source", "articles of this source only", FILTER),
    parameter("tag", "articles with this tag only", FILTER),
    parameter("lang", "articles in this language only", FILTER),
    parameter("read", "unread: only what this reader has not read; absent for all", {"enum": ["unread"]}),
    parameter("cursor", "where a page goes on: use the address in `next`", TEXT),
    parameter("kept", "show this article although its verdict would leave it out", ARTICLE_ID),
    parameter("id", "just these articles, in this order", {"type": "array", "items": ARTICLE_ID, "maxItems": 100}),
]
SINCE = parameter("since", "the last version you have seen; 0 or absent for all", VERSION)
FORMAT = parameter("format", "json unless named", {"enum": ["json", "csv"]})
START = parameter("start", "the first verdict to apply; use the address in `next`", {"type": "integer", "minimum": 1})
