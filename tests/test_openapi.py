"""The API's description: complete, true (its examples are answers of the real endpoints), fresh and readable."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import URLPattern
from jsonschema import Draft202012Validator
from rest_framework.test import APIClient

from articles.models import Article
from articles.urls import api_patterns as article_patterns
from devpick.api_docs import document
from devpick.api_operations import DESCRIPTIONS, OPERATIONS
from devpick.openapi import EXAMPLES
from feedback.urls import api_patterns as feedback_patterns
from tests.api_trials import carry_out, trials, write_down
from tests.pages import page_of

TRIALS = list(trials())


@pytest.mark.skipif("WRITE_EXAMPLES" not in os.environ, reason="make schema writes the examples")
def test_write_the_examples(db: None) -> None:
    found = [(trial, carry_out(trial)) for trial in TRIALS]
    assert [answer["status"] for _trial, answer in found] == [trial.status for trial in TRIALS]
    EXAMPLES.write_text(write_down(found))


@pytest.mark.parametrize("name", [operation.name for operation in OPERATIONS.values()])
def test_the_examples_are_what_the_endpoint_answers(db: None, name: str) -> None:
    mine = [trial for trial in TRIALS if trial.operation == name]
    found = [(trial, carry_out(trial)) for trial in mine]
    assert [answer["status"] for _trial, answer in found] == [trial.status for trial in mine]
    assert json.loads(write_down(found))[name] == json.loads(EXAMPLES.read_text())[name]


def operations() -> dict[str, dict[str, Any]]:
    return {operation["operationId"]: operation for methods in document()["paths"].values() for operation in methods.values()}


def test_every_documented_answer_was_tried_and_the_other_way_round() -> None:
    tried = {(trial.operation, trial.status) for trial in TRIALS} | {(served.name, 200) for served in DESCRIPTIONS.values()}
    tried |= {(f"head_{name}", status) for name, status in tried if f"head_{name}" in operations()}
    assert tried == {(name, int(status)) for name, operation in operations().items() for status in operation["responses"]}


@pytest.mark.parametrize("name", [operation.name for (_path, method), operation in OPERATIONS.items() if method == "GET"])
def test_head_answers_as_get_does_without_the_body(db: None, name: str) -> None:
    for trial in [trial for trial in TRIALS if trial.operation == name]:
        get, head = carry_out(trial), carry_out(trial, "HEAD")
        assert [head[part] for part in ("status", "content_type", "headers", "body")] == [
            *(get[part] for part in ("status", "content_type", "headers")),
            None,
        ]
    promised = [operations()[f"{before}{name}"]["responses"] for before in ("", "head_")]
    assert [set(answer) - {"content"} for answer in promised[0].values()] == [set(answer) for answer in promised[1].values()]


def test_every_endpoint_is_documented() -> None:
    patterns: list[URLPattern] = [*article_patterns, *feedback_patterns]
    assert len(document()["paths"]) == len(patterns) + len(DESCRIPTIONS)


def schema_of(answer: dict[str, Any], operation: dict[str, Any]) -> Any:
    content = operation["responses"][str(answer["status"])]["content"]
    return content[answer["content_type"].split(";")[0]]["schema"] | {"components": document()["components"]}


def test_every_answer_has_its_documented_shape() -> None:
    for name, answers in json.loads(EXAMPLES.read_text()).items():
        for answer in [answer for status in answers.values() for answer in status if answer["body"] is not None]:
            Draft202012Validator(schema_of(answer, operations()[name])).validate(answer["body"])


@pytest.mark.parametrize("field", ["liked", "not_interested"])
def test_the_other_field_alone_is_no_toggle(field: str, db: None, article: Article, api: APIClient) -> None:
    what, other = {"liked": ("like", "not_interested"), "not_interested": ("not_interested", "liked")}[field]
    content = operations()[f"post_{what}"]["requestBody"]["content"]["application/json"]
    shape = Draft202012Validator(content["schema"] | {"components": document()["components"]})
    for body in ({}, {field: True}, {field: False, other: True}, {other: True}, {field: True, other: True}, {"seq": 1}):
        answer = api.post(f"/api/articles/{article.pk}/{what.replace('_', '-')}/", body, format="json")
        assert shape.is_valid(body) is (answer.status_code == 200), body


def test_the_committed_document_is_the_served_one(client: Client) -> None:
    served = client.get("/api/schema/")
    assert served["Content-Type"] in document()["paths"]["/api/schema/"]["get"]["responses"]["200"]["content"]
    assert served.json() == json.loads(Path("docs/openapi.json").read_text())
    assert served.json()["openapi"] == "3.1.1"


def test_people_can_read_it_without_any_outside_host(client: Client, db: None) -> None:
    response = client.get("/api/docs/")
    page = page_of(response)
    addresses = [f"{method} {path}" for path, method in OPERATIONS] + [f"GET {path}" for path in DESCRIPTIONS]
    assert [heading.text for heading in page.all("h3")] == addresses
    assert "`" not in page.text
    assert page.all("script") == []
    assert all(link.attributes["href"].startswith(("/", "#")) for link in page.all("a"))
    assert '"like_count": 1' in response.content.decode().replace("&quot;", '"')
    for operation in OPERATIONS.values():
        assert page.one("section", id=operation.name).all("pre")


@pytest.mark.parametrize("address", ["/api/schema/", "/api/docs/", "/api/schema", "/api/docs"])
def test_the_description_is_only_read(client: Client, db: None, address: str) -> None:
    assert client.head(address).status_code == 200
    refused = Client(enforce_csrf_checks=True).post(address)
    assert (refused.status_code, refused["Allow"], refused.json()["code"]) == (405, "GET, HEAD", "method_not_allowed")
