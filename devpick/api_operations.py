"""Every address of the API and what it answers: the table from which the OpenAPI document is made.

Headers and examples are not written here: they come from trials of the real endpoints (`api_examples.json`).
"""

from dataclasses import dataclass, field
from typing import Any

from devpick.api_shapes import (
    ARTICLE,
    FORMAT,
    IF_NONE_MATCH,
    KEY,
    LIST,
    READER,
    SINCE,
    START,
    TEXT,
    Shape,
    ref,
)

FORMS = ("application/json", "application/x-www-form-urlencoded", "multipart/form-data")
READS = (401, 403, 503)
SAVES = (400, 401, 403, 404, 411, 413, 415, 422, 429, 503)

CODES: dict[int, tuple[str, list[str]]] = {
    400: ("The request cannot be read, or its values cannot be used. Nothing was written.", ["invalid", "parse_error"]),
    401: ("No reader, or a token that is not valid.", ["not_authenticated"]),
    403: ("Not from this reader's page.", ["csrf_failed", "reader_changed", "permission_denied"]),
    404: ("There is no such article, or no longer.", ["not_found"]),
    411: ("A body needs a Content-Length.", ["length_required"]),
    413: ("The body is too large.", ["body_too_large"]),
    415: ("The body's type is not one of those above.", ["unsupported_media_type"]),
    422: ("The Idempotency-Key was used for another request.", ["idempotency_key_reused"]),
    429: ("Too many requests in a minute.", ["throttled"]),
    503: ("The database is away or busy. Send the same again.", ["unavailable"]),
}


@dataclass(frozen=True)
class Operation:
    """One method of one address. `answers`: by media type, the shape of a 200. `failures`: statuses with a problem document."""

    name: str
    tag: str
    summary: str
    description: str
    answers: dict[str, Shape]
    failures: tuple[int, ...]
    parameters: list[Shape] = field(default_factory=list)
    bodies: dict[str, Shape] = field(default_factory=dict)
    body_required: bool = True
    public: bool = False
    conditional: bool = False


def json_of(name: str) -> dict[str, Any]:
    return {"application/json": ref(name)}


def feedback_operations(path: str, what: str, field_name: str, wish: str) -> dict[tuple[str, str], Operation]:
    """The three methods of one of the two feedback endpoints."""
    body = dict.fromkeys(FORMS, ref(wish))
    own = f"`{field_name}`"
    return {
        (path, "GET"): Operation(
            f"get_{what}",
            "One article",
            "The present state",
            "Nothing is written.",
            json_of("State"),
            (404, *READS),
            [ARTICLE, READER],
        ),
        (path, "PUT"): Operation(
            f"put_{what}",
            "One article",
            f"Bring {own} to a state",
            "Idempotent: after a lost reply send it again. Name both fields to state the whole verdict.",
            json_of("Saved"),
            SAVES,
            [ARTICLE, KEY, READER],
            body,
        ),
        (path, "POST"): Operation(
            f"post_{what}",
            "One article",
            f"The same as PUT; without {own} a toggle",
            "A toggle is for old clients. Do not repeat one without an Idempotency-Key: the second takes the first back.",
            json_of("Saved"),
            SAVES,
            [ARTICLE, KEY, READER],
            dict.fromkeys(FORMS, ref(f"{wish}OrToggle")),
            body_required=False,
        ),
    }


OPERATIONS: dict[tuple[str, str], Operation] = {
    ("/api/articles/", "GET"): Operation(
        "list_articles",
        "Articles",
        "A list, or chosen articles",
        "Public; with a reader each card carries their state, match and reasons. `liked` and `not-interested` need a reader."
        " 30 cards a page; `next` goes on in the order in which the first page was ranked.",
        json_of("Cards"),
        (400, *READS),
        [*LIST, IF_NONE_MATCH, READER],
        public=True,
        conditional=True,
    ),
    ("/api/articles/{article_id}/", "GET"): Operation(
        "get_article",
        "Articles",
        "One article",
        "Public; with a reader it carries their state, match and reasons.",
        json_of("Card"),
        (404, *READS),
        [ARTICLE, IF_NONE_MATCH, READER],
        public=True,
        conditional=True,
    ),
    **feedback_operations("/api/articles/{article_id}/like/", "like", "liked", "LikeWish"),
    **feedback_operations("/api/articles/{article_id}/not-interested/", "not_interested", "not_interested", "NotInterestedWish"),
    ("/api/articles/{article_id}/read/", "GET"): Operation(
        "get_read",
        "One article",
        "Whether this reader has read it",
        "Nothing is written.",
        json_of("ReadMark"),
        (404, *READS),
        [ARTICLE, READER],
    ),
    ("/api/articles/{article_id}/read/", "PUT"): Operation(
        "put_read",
        "One article",
        "Mark it read, or unread again",
        "Idempotent: after a lost reply send it again. Nothing is ranked or counted by it.",
        json_of("ReadMarkSaved"),
        (400, 401, 403, 404, 411, 413, 415, 429, 503),
        [ARTICLE, READER],
        dict.fromkeys(FORMS, ref("ReadWish")),
    ),
    ("/api/feedback/", "GET"): Operation(
        "list_changes",
        "All of a reader's verdicts",
        "What changed since a version",
        "The latest verdict on each article that changed after `since`, 200 a page. Keep the highest version you saw and ask from"
        " there next time: nothing is missed, also while others save.",
        json_of("Changes"),
        (400, *READS),
        [SINCE, READER],
    ),
    ("/api/feedback/export/", "GET"): Operation(
        "export_feedback",
        "All of a reader's verdicts",
        "All verdicts as a file",
        "Oldest first; what was taken back is left out. The import reads it, here and on other installations.",
        {"application/json": ref("Verdicts"), "text/csv": TEXT},
        (400, *READS),
        [FORMAT, READER],
    ),
    ("/api/feedback/import/", "POST"): Operation(
        "import_feedback",
        "All of a reader's verdicts",
        "Bring the verdicts of a file about",
        "Desired states, applied oldest first, each by itself; safe to send again. At most 20,000 verdicts and 5 MiB, of which"
        " one request applies 1,000: send the same body to `next` until it is null.",
        json_of("Report"),
        (400, 401, 403, 411, 413, 415, 429, 503),
        [START, READER],
        {"application/json": ref("Verdicts"), "text/csv": TEXT},
    ),
}

# By path; all are GET, and no views of DRF's.
DESCRIPTIONS = {
    "/api/schema/": Operation(
        "get_schema",
        "This description",
        "The same for programs",
        "OpenAPI 3.1; the same for everybody.",
        {"application/vnd.oai.openapi+json": {"type": "object"}},
        (),
        public=True,
    ),
    "/api/docs/": Operation(
        "get_docs",
        "This description",
        "The same for people",
        "This page, made from that document.",
        {"text/html": TEXT},
        (),
        public=True,
    ),
}
