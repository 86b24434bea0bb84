"""The API's description: complete, true (its examples are answers of the real endpoints), fresh and readable."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import URLPattern
from jsonschema import Draft202012Validator

from articles.urls import api_patterns as article_patterns
from devpick.api_docs import document
from devpick.api_operations import OPERATIONS
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
    documented = {(name, int(status)) for name, operation in operations().items() for status in operation["responses"]}
    assert documented == {(trial.operation, trial.status) for trial in TRIALS}


def test_every_endpoint_is_documented() -> None:
    patterns: list[URLPattern] = [*article_patterns, *feedback_patterns]
    assert len(document()["paths"]) == len(patterns)


def schema_of(answer: dict[str, Any], operation: dict[str, Any]) -> Any:
    content = operation["responses"][str(answer["status"])]["content"]
    return content[answer["content_type"].split(";")[0]]["schema"] | {"components": document()["components"]}


def test_every_answer_has_its_documented_shape() -> None:
    for name, answers in json.loads(EXAMPLES.read_text()).items():
        for answer in [answer for status in answers.values() for answer in status if answer["body"] is not None]:
            Draft202012Validator(schema_of(answer, operations()[name])).validate(answer["body"])


def test_the_committed_document_is_the_served_one(client: Client) -> None:
    served = client.get("/api/schema/")
    assert served["Content-Type"] == "application/vnd.oai.openapi+json"
    assert served.json() == json.loads(Path("docs/openapi.json").read_text())
    assert served.json()["openapi"] == "3.1.1"


def test_people_can_read_it_without_any_outside_host(client: Client, db: None) -> None:
    response = client.get("/api/docs/")
    page = page_of(response)
    assert [heading.text for heading in page.all("h3")] == [f"{method} {path}" for path, method in OPERATIONS]
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
