"""Loaded by schemathesis alone (fuzz.toml), from an environment of its own."""

from typing import Any

import schemathesis  # type: ignore[import-not-found]


@schemathesis.hook  # type: ignore[untyped-decorator]
def map_body(context: Any, body: Any) -> Any:
    """To JSON Schema 7.0 is an integer; to us it is a sign of a client that counts in floats, and refused."""
    seq = body.get("seq") if isinstance(body, dict) else None
    if isinstance(seq, float) and seq.is_integer():
        body["seq"] = int(seq)
    return body
