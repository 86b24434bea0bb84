import assert from "node:assert/strict";
import { test } from "node:test";

import { classify } from "../../static/js/feedback_state.js";
import { reply, saved, state } from "./helpers.js";

const kindOf = (came, field = "liked") => classify(came, field).kind;
const body = { article: 7, liked: true, not_interested: false, like_count: 11, version: 4, changed: false, stale: false };

test("a whole reply of a new server is confirmed, whether or not it changed anything", () => {
  const { changed, stale, article, ...told } = body;
  assert.deepEqual(classify(reply(200, body), "liked"), { kind: "confirmed", state: told });
  assert.deepEqual(classify(saved({ version: 9 }), "liked"), { kind: "confirmed", state: state({ version: 9 }) });
});

for (const broken of [{ liked: "true" }, { not_interested: null }, { like_count: "11" }, { like_count: 1.5 }, { liked: undefined }]) {
  test(`a new server's 200 with ${JSON.stringify(broken)} is not confirmed`, () => {
    assert.deepEqual(classify(reply(200, { ...body, ...broken }), "liked"), { kind: "again", after: null });
  });
}

for (const empty of [undefined, null, [], "liked", 7, {}, { status: "ok" }]) {
  test(`a 200 with ${JSON.stringify(empty)} is not confirmed`, () => {
    assert.equal(kindOf(reply(200, empty)), "again");
  });
}

test("an old server's reply needs the field of the pressed button, and may tell the count", () => {
  assert.deepEqual(classify(reply(200, { liked: true, like_count: 5 }), "liked"), { kind: "toggled", value: true, count: 5 });
  assert.deepEqual(classify(reply(200, { liked: false }), "liked"), { kind: "toggled", value: false, count: null });
  assert.equal(kindOf(reply(200, { liked: true, like_count: 5 }), "not_interested"), "again");
});

const ROWS = {
  again: [408, 425, 429, 502, 503, 504],
  unsure: [0, 201, 204, 302, 304, 500, 501, 505, 599],
  refused: [400, 402, 403, 406, 409, 411, 413, 415, 418, 422],
  gone: [404, 410],
  login: [401],
  old: [405],
};
for (const [kind, statuses] of Object.entries(ROWS)) {
  for (const status of statuses) test(`${status} is "${kind}"`, () => assert.equal(kindOf(reply(status, { code: "x" })), kind));
}

test("two answers of 403 have a meaning of their own", () => {
  assert.equal(kindOf(reply(403, { code: "csrf_failed" })), "csrf");
  assert.equal(kindOf(reply(403, { code: "reader_changed" })), "reader");
  assert.equal(kindOf(reply(403, undefined)), "refused");
});

test("a redirect that was not followed is a log-in page's", () => {
  assert.equal(kindOf({ status: 0, type: "opaqueredirect", body: undefined, after: null }), "login");
});

test("no reply at all may be repeated", () => assert.deepEqual(classify(null, "liked"), { kind: "again", after: null }));

test("the told wait comes through", () => assert.deepEqual(classify(reply(503, {}, 2000), "liked"), { kind: "again", after: 2000 }));
