"""Plant known faults in the page's script; a browser test catches each: `python -m tests.browser.planted_faults [NAME ...]`."""

import sys

from tests.planted_faults import Fault, main

FAULTS = [
    Fault(
        "Retry works the wish out anew",
        "static/js/feedback_state.js",
        "return act({ ...card, retried: true }, { ...card.intent, ...order }, moment);",
        "return press(card, card.intent.field, order, moment);",
        "tests/browser/test_presses.py",
    ),
    Fault(
        "the count not taken from the reply",
        "static/js/feedback_state.js",
        'if (outcome.kind === "confirmed") return { ...outcome.state,',
        """if (outcome.kind === "confirmed") return { ...outcome.state,
    like_count: server.like_count + Number(outcome.state.liked) - Number(server.liked),""",
        "tests/browser/test_outcomes.py",
    ),
    Fault(
        "a POST repeated by itself",
        "static/js/feedback_state.js",
        'return fail(landed, "unconfirmed");',
        'return send(landed, intent, "POST", moment);',
        "tests/browser/test_deploy.py",
    ),
    Fault(
        "a POST after a send without a certain answer",
        "static/js/feedback_state.js",
        "if (card.uncertain) return again(card, null, moment);",
        "",
        "tests/browser/test_deploy.py",
    ),
    Fault(
        "an older version paints",
        "static/js/feedback_state.js",
        "const isCurrent = state.version >= card.server.version;",
        "const isCurrent = true;",
        "tests/browser/test_outcomes.py",
    ),
    Fault(
        "the intent kept for the next reader",
        "static/js/stored.js",
        "one.reader === reader && Date.now()",
        "Date.now()",
        "tests/browser/test_history.py",
    ),
    Fault(
        "single-field intents",
        "static/js/feedback_api.js",
        "body: JSON.stringify(wish),",
        "body: JSON.stringify({ [field]: wish[field], client: wish.client, seq: wish.seq }),",
        "tests/browser/test_presses.py",
    ),
    Fault(
        "a failure keeps the wish on show",
        "static/js/feedback_state.js",
        "(isSaving(card) && card.intent) || card.server",
        "card.intent || card.server",
        "tests/browser/test_lost.py",
    ),
]

if __name__ == "__main__":
    sys.exit(main(FAULTS))
