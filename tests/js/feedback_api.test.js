import assert from "node:assert/strict";
import { test } from "node:test";

import { addressOf, retryAfter } from "../../static/js/feedback_api.js";

const DATE = "Mon, 30 Nov 2026 12:00:00 GMT";
const told = (value, date = DATE) => retryAfter(new Headers({ "Retry-After": value, Date: date }));

test("Retry-After is seconds or an HTTP date, by the server's clock", () => {
  assert.equal(told("2"), 2000);
  assert.equal(told("0"), 0);
  assert.equal(told("86400"), 86400000);
  assert.equal(told("Mon, 30 Nov 2026 12:00:03 GMT"), 3000);
});

test("a date in the past is no wait", () => assert.equal(told("Mon, 30 Nov 2026 11:00:00 GMT"), 0));

for (const garbage of ["abc", "-5", "1.5", "2 seconds", "2026-11-30T12:00:03Z", "soon GMT", ""]) {
  test(`Retry-After "${garbage}" tells nothing`, () => assert.equal(told(garbage), null));
}

test("without the header nothing is told", () => assert.equal(retryAfter(new Headers()), null));

test("without the server's date this browser's clock serves", () => {
  const wait = retryAfter(new Headers({ "Retry-After": new Date(Date.now() + 60000).toUTCString() }));
  assert.ok(wait > 50000 && wait <= 61000);
});

test("an address names its article", () => assert.equal(addressOf("/api/articles/{article}/like/", 7), "/api/articles/7/like/"));
