"""The OpenAPI document: drf-spectacular finds the addresses, the table describes them, trials give headers and examples.

An address that the table does not know makes the document fail, so a new one cannot be forgotten.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

from drf_spectacular.openapi import AutoSchema

from devpick.api_operations import CODES, DESCRIPTIONS, OPERATIONS, Operation
from devpick.api_shapes import HEADERS, SCHEMAS, SECURITY_SCHEMES, Shape, ref

EXAMPLES = Path(__file__).with_name("api_examples.json")
PROBLEM = "application/problem+json"
DESCRIPTION = (
    "Say what you want to be true, as often as the network makes you: sending it again never does harm. "
    "Every address answers with and without its last slash, and HEAD as GET without the body. Errors are problem documents "
    "(RFC 9457) with a stable `code`; beside the ones listed, any address may answer 404 `not_found`, 405 `method_not_allowed` "
    "and 500 `error`. Unknown fields and parameters are ignored. Versions of this document only add."
)


class DescribedView(AutoSchema):
    """Takes a view's description from the table."""

    def get_operation(self, path: str, path_regex: str, path_prefix: str, method: str, registry: Any) -> Shape:
        return operation(OPERATIONS[path, method])


@cache
def trials() -> dict[str, dict[str, list[Any]]]:
    """Requests and answers as they were, by operation and status."""
    found: dict[str, dict[str, list[Any]]] = json.loads(EXAMPLES.read_text())
    return found


def operation(described: Operation) -> Shape:
    tried = trials().get(described.name, {})
    answers: dict[int, Shape] = {200: {"description": described.summary, "content": contents(described.answers)}}
    if described.conditional:
        answers[304] = {"description": "Unchanged since the answer whose ETag you sent."}
    answers |= {status: failure(status) for status in described.failures}
    result: Shape = {
        "operationId": described.name,
        "tags": [described.tag],
        "summary": described.summary,
        "description": described.description,
        "security": [{name: []} for name in SECURITY_SCHEMES] + ([{}] if described.public else []),
        "parameters": described.parameters,
        "responses": {str(status): with_trials(answers[status], tried.get(str(status), [])) for status in sorted(answers)},
    }
    return result | ({"requestBody": request_body(described, tried)} if described.bodies else {})


def contents(shapes: dict[str, Shape]) -> dict[str, Shape]:
    return {kind: {"schema": shape} for kind, shape in shapes.items()}


def failure(status: int) -> Shape:
    """A problem document whose code is one of this status."""
    description, codes = CODES[status]
    if status == 400:
        codes = [*codes, "idempotency_key_invalid"]
    known = {"properties": {"status": {"const": status}, "code": {"enum": codes}}}
    return {"description": description, "content": contents({PROBLEM: {"allOf": [ref("Problem"), known]}})}


def with_trials(answer: Shape, tried: list[Any]) -> Shape:
    """The answer with the headers and bodies that were seen. A header is promised where every trial had it."""
    seen = {name for trial in tried for name in trial["headers"]}
    headers = {
        name: HEADERS[name] | {"required": all(name in trial["headers"] for trial in tried)} for name in HEADERS if name in seen
    }
    for trial in tried:
        if trial["body"] is not None:
            put_example(answer["content"], trial["content_type"], trial["name"], trial["body"])
    return answer | ({"headers": headers} if headers else {})


def request_body(described: Operation, tried: dict[str, list[Any]]) -> Shape:
    content = contents(described.bodies)
    for trial in tried.get("200", []):
        sent = trial["request"]
        if sent.get("body") is not None:
            put_example(content, sent["content_type"], trial["name"], sent["body"])
    return {"required": described.body_required, "content": content}


def put_example(content: dict[str, Shape], kind: str, name: str, value: Any) -> None:
    examples = content[kind.split(";")[0]].setdefault("examples", {})
    examples[name.replace(" ", "-")] = {"summary": name, "value": value}


def head_of(get: Shape) -> Shape:
    """The same without the bodies."""
    answers = {status: dict(answer) for status, answer in get["responses"].items()}
    for answer in answers.values():
        answer.pop("content", None)
    return get | {"operationId": f"head_{get['operationId']}", "summary": "The headers of GET", "responses": answers}


def complete(result: Shape, **context: Any) -> Shape:
    """What drf-spectacular does not find, or does not belong to one address."""
    result["paths"] |= {path: {"get": operation(described)} for path, described in DESCRIPTIONS.items()}
    for methods in result["paths"].values():
        methods |= {"head": head_of(methods["get"])} if "get" in methods else {}
    result["info"]["description"] = DESCRIPTION
    result["servers"] = [{"url": "/"}]
    described = [*OPERATIONS.values(), *DESCRIPTIONS.values()]
    result["tags"] = [{"name": tag} for tag in dict.fromkeys(operation.tag for operation in described)]
    result["components"] = {"schemas": SCHEMAS, "securitySchemes": SECURITY_SCHEMES}
    return result
