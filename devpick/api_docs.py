"""The API's description: as an OpenAPI document for programs, and as a page for people."""

import json
from collections.abc import Callable
from functools import cache, wraps
from http import HTTPStatus
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.views.decorators.csrf import csrf_exempt
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.renderers import OpenApiJsonRenderer

from devpick.openapi import PROBLEM
from devpick.problems import problem

TEXTS = ("summary", "description")
View = Callable[[HttpRequest], HttpResponse]


def only_read(view: View) -> View:
    """Refuses other methods as every address below /api/ does."""

    @csrf_exempt
    @wraps(view)
    def answer(request: HttpRequest) -> HttpResponse:
        if request.method in ("GET", "HEAD"):
            return view(request)
        response = problem(405, "method_not_allowed", "This address can only be read.")
        response["Allow"] = "GET, HEAD"
        return response

    return answer


@cache
def document() -> dict[str, Any]:
    """The same for everybody, so it is made once in a process."""
    made: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)
    return made


@cache
def document_text() -> bytes:
    text: bytes = OpenApiJsonRenderer().render(document())
    return text


@only_read
def api_schema(request: HttpRequest) -> HttpResponse:
    return HttpResponse(document_text(), content_type="application/vnd.oai.openapi+json")


@only_read
def api_docs(request: HttpRequest) -> HttpResponse:
    """Rendered here: a page of the usual viewers loads scripts and styles that the site's policy refuses."""
    return render(request, "api/docs.html", {"info": with_code(document()["info"]), "sections": sections()})


@cache
def sections() -> list[tuple[str, list[dict[str, Any]]]]:
    """The operations under their headings, as the template shows them."""
    shown = [
        shown_operation(path, method, with_code(methods[method]))
        for path, methods in document()["paths"].items()
        for method in ("get", "put", "post")
        if method in methods
    ]
    return [(tag["name"], [found for found in shown if tag["name"] in found["tags"]]) for tag in document()["tags"]]


def with_code(part: Any) -> Any:
    """The same with the texts for people as HTML: what stands between backticks is code. Examples stay as they are."""
    if isinstance(part, list):
        return [with_code(item) for item in part]
    if not isinstance(part, dict):
        return part
    return {
        name: html_of(value) if name in TEXTS else value if name == "value" else with_code(value) for name, value in part.items()
    }


def html_of(text: str) -> SafeString:
    words = text.split("`")
    return format_html_join(
        "", "{}", ((format_html("<code>{}</code>", word) if n % 2 else word,) for n, word in enumerate(words))
    )


def shown_operation(path: str, method: str, operation: dict[str, Any]) -> dict[str, Any]:
    answers = [shown_answer(status, answer) for status, answer in operation["responses"].items()]
    body = operation.get("requestBody", {}).get("content", {})
    return operation | {"path": path, "method": method.upper(), "answers": answers, "body_examples": examples_in(body)}


def shown_answer(status: str, answer: dict[str, Any]) -> dict[str, Any]:
    content = answer.get("content", {})
    codes = content.get(PROBLEM, {}).get("schema", {}).get("allOf", [{}, {}])[1].get("properties", {}).get("code", {})
    return answer | {
        "status": status,
        "phrase": HTTPStatus(int(status)).phrase,
        "codes": codes.get("enum", []),
        "examples": examples_in(content),
    }


def examples_in(content: dict[str, Any]) -> list[tuple[str, str, str]]:
    """(what it shows, media type, text)"""
    return [
        (example["summary"], kind, text_of(example["value"]))
        for kind, media in content.items()
        for example in media.get("examples", {}).values()
    ]


def text_of(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False)
