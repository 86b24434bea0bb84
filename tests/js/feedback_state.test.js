import assert from "node:assert/strict";
import { test } from "node:test";

import * as rules from "../../static/js/feedback_state.js";
import { after, card, moment, order, POLICY, pressed, reply, saved, state } from "./helpers.js";

const LIKED = { liked: true, not_interested: false };
const NOT_INTERESTED = { liked: false, not_interested: true };
const NOTHING = { liked: false, not_interested: false };
const busy = reply(503, { code: "unavailable" });
const old = reply(405, { code: "method_not_allowed" });
const verdictOf = ({ liked, not_interested }) => ({ liked, not_interested });
const show = (one) => ({ ...verdictOf(rules.shown(one)), count: rules.likeCount(one), news: one.news });

/** Fail every send of this act until the card gives up. */
function exhaust(from, came = busy, at = {}) {
  let step = after(from, came, moment(at));
  while (step.card.phase === "waiting") step = after(rules.waitOver(step.card, moment(at)).card, came, moment(at));
  return step.card;
}

// Presses

for (const [button, from, wish] of [
  ["liked", {}, LIKED],
  ["liked", LIKED, NOTHING],
  ["liked", NOT_INTERESTED, LIKED],
  ["not_interested", {}, NOT_INTERESTED],
  ["not_interested", LIKED, NOT_INTERESTED],
  ["not_interested", NOT_INTERESTED, NOTHING],
  ["undo", NOT_INTERESTED, NOTHING],
]) {
  test(`${button} on ${JSON.stringify(from)} asks for the whole verdict ${JSON.stringify(wish)}`, () => {
    const step = rules.press(card(from), button, order(5), moment());
    const field = button === "undo" ? "not_interested" : button;
    const intent = { article: 7, field, ...wish, client: "client-of-tests", seq: 5 };
    assert.deepEqual(step.card.intent, intent);
    assert.deepEqual(step.send, { intent, method: "PUT", timeout: 8000 });
  });
}

test("while a save is open the card shows its verdict, and the confirmed count moved by it", () => {
  assert.deepEqual(show(pressed("liked")), { ...LIKED, count: 11, news: "saving" });
  assert.deepEqual(show(pressed("liked", card(LIKED))), { ...NOTHING, count: 9, news: "saving" });
  assert.deepEqual(show(pressed("not_interested", card(LIKED))), { ...NOT_INTERESTED, count: 9, news: "saving" });
});

test("the count of the reply is shown, whatever the page had reckoned", () => {
  const { card: now } = after(pressed(), saved({ ...LIKED, like_count: 57, version: 4 }));
  assert.deepEqual(show(now), { ...LIKED, count: 57, news: "" });
});

test("a press while a save is under way sends nothing, and takes the earlier wish's place", () => {
  const step = rules.press(pressed("liked"), "liked", order(2), moment());
  assert.equal(step.send, undefined);
  assert.deepEqual(show(step.card), { ...NOTHING, count: 10, news: "saving" });
});

test("the newer wish is sent when the flight ends, however it ends", () => {
  for (const came of [saved({ ...LIKED, version: 4 }), busy, null, reply(500), reply(400), old]) {
    const two = rules.press(pressed("liked"), "not_interested", order(2), moment()).card;
    const { send } = after(two, came);
    assert.deepEqual([send.method, send.intent.seq, verdictOf(send.intent)], ["PUT", 2, NOT_INTERESTED]);
  }
});

test("the newer wish is not sent if the answer already shows it", () => {
  const two = rules.press(pressed("liked"), "liked", order(2), moment()).card;
  const step = after(two, saved({ ...NOTHING, version: 5 }));
  assert.equal(step.send, undefined);
  assert.equal(step.card.intent, null);
});

test("the newer wish is sent if only an older state shows it", () => {
  const two = rules.press(pressed("liked", card({ ...LIKED, version: 9 })), "liked", order(2), moment()).card;
  assert.deepEqual(verdictOf(two.intent), LIKED);
  assert.equal(after(two, saved({ ...LIKED, version: 8 })).send.intent.seq, 2);
});

test("a press in a wait ends the wait and begins a new act", () => {
  const waiting = after(pressed("liked"), busy).card;
  assert.equal(waiting.phase, "waiting");
  const step = rules.press(waiting, "liked", order(2), moment({ now: 15000 }));
  assert.deepEqual([step.card.sends, step.card.since, step.send.timeout], [1, 15000, 8000]);
  assert.deepEqual(verdictOf(step.send.intent), NOTHING);
});

test("a late end of the wait does nothing to the new act", () => {
  const now = rules.press(after(pressed("liked"), busy).card, "liked", order(2), moment()).card;
  assert.deepEqual(rules.waitOver(now, moment()), { card: now });
});

// Failures

test("a failure shows the confirmed verdict, so a second press asks for the same thing", () => {
  const failed = after(pressed("liked"), reply(500)).card;
  assert.deepEqual(show(failed), { ...NOTHING, count: 10, news: "failed" });
  assert.deepEqual(verdictOf(rules.press(failed, "liked", order(2), moment()).send.intent), LIKED);
});

test("Retry asks for the recorded verdict with a new place in the order, whatever the card has heard since", () => {
  const failed = after(pressed("liked", card(LIKED)), reply(500)).card;
  const heard = rules.told(failed, state({ ...NOT_INTERESTED, version: 8 }), "tab").card;
  const step = rules.retry(heard, order(9), moment());
  assert.deepEqual(verdictOf(step.send.intent), NOTHING);
  assert.deepEqual(step.send.intent, { ...failed.intent, seq: 9 });
  assert.equal(step.card.sends, 1);
});

test("Retry does nothing while its send is under way, or where none is offered", () => {
  const under = rules.retry(after(pressed(), reply(500)).card, order(2), moment()).card;
  assert.deepEqual(rules.retry(under, order(3), moment()), { card: under });
  assert.deepEqual(rules.retry(card(), order(3), moment()), { card: card() });
});

for (const [status, code, news, keepsIntent, offersRetry] of [
  [400, "invalid", "refused", false, false],
  [413, "body_too_large", "refused", false, false],
  [404, "not_found", "gone", false, false],
  [410, "gone", "gone", false, false],
  [401, "not_authenticated", "login", true, false],
  [403, "reader_changed", "reader", false, false],
  [500, "error", "failed", true, true],
  [501, "error", "failed", true, true],
]) {
  test(`${status} ${code} ends at once as "${news}"`, () => {
    const { card: now, send, wait } = after(pressed(), reply(status, { code }));
    assert.deepEqual([now.news, now.intent !== null, rules.canRetry(now)], [news, keepsIntent, offersRetry]);
    assert.deepEqual([send, wait, show(now).liked, show(now).count], [undefined, undefined, false, 10]);
  });
}

test("nobody can press on an article that is gone", () => {
  const gone = after(pressed(), reply(404)).card;
  assert.deepEqual(rules.press(gone, "liked", order(2), moment()), { card: gone });
});

test("a refused CSRF token is read again and the same intent sent once more, then it is Retry's turn", () => {
  const refused = reply(403, { code: "csrf_failed" });
  const again = after(pressed(), refused);
  assert.deepEqual([again.send.method, again.send.intent.seq], ["PUT", 1]);
  assert.deepEqual([after(again.card, refused).card.news, after(again.card, refused).send], ["failed", undefined]);
  assert.equal(after(again.card, saved({ ...LIKED, version: 4 })).card.news, "");
});

test("a confirmed answer that is not what was asked for is adopted and said", () => {
  const step = after(pressed("liked"), saved({ ...NOT_INTERESTED, version: 8 }));
  assert.deepEqual(show(step.card), { ...NOT_INTERESTED, count: 10, news: "changed" });
  assert.equal(step.card.intent, null);
});

test("an older answer ends its intent and paints nothing", () => {
  const step = after(pressed("liked", card({ version: 9 })), saved({ ...LIKED, like_count: 99, version: 8 }));
  assert.deepEqual(show(step.card), { ...NOTHING, count: 10, news: "changed" });
  assert.deepEqual([step.card.intent, step.tell], [null, undefined]);
});

// Repeats

test("the waits are random below 1, 2, 4 and 4 seconds, and the fifth send is the last", () => {
  const ceilings = [0, 0.5, 0.999].map((chance) => [1, 2, 3, 4, 5].map((sends) => rules.waitBefore({ ...card(), sends, since: 0 }, null, moment({ chance }))));
  assert.deepEqual(ceilings[0], [0, 0, 0, 0, null]);
  assert.deepEqual(ceilings[1], [500, 1000, 2000, 2000, null]);
  assert.ok(ceilings[2].every((wait, index) => wait === null || wait < POLICY.ceilings[index]));
});

test("every repeat is the same intent with the same seq, by PUT, and counts against the minute", () => {
  const waiting = after(pressed(), busy);
  assert.deepEqual([waiting.wait, waiting.repeat], [500, 500]);
  const { send } = rules.waitOver(waiting.card, moment({ now: 500 }));
  assert.deepEqual(send, { intent: pressed().intent, method: "PUT", timeout: 8000 });
});

test("after the last send the card fails with Retry", () => {
  const now = exhaust(pressed());
  assert.deepEqual([now.sends, now.news, rules.canRetry(now)], [5, "failed", true]);
});

test("Retry-After up to four seconds is the least wait; a longer one ends the repeats and is told", () => {
  assert.equal(after(pressed(), reply(503, {}, 2000)).wait, 2000);
  assert.equal(after(pressed(), reply(503, {}, 200)).wait, 500);
  assert.equal(after(pressed(), reply(503, {}, 4000)).wait, 4000);
  const told = after(pressed(), reply(429, {}, 60000)).card;
  assert.deepEqual([told.news, told.wait, rules.canRetry(told)], ["wait", 60000, true]);
  assert.equal(rules.waitOver(told, moment()).card.news, "failed");
  assert.equal(exhaust(pressed(), reply(503, {}, 0)).news, "failed");
});

test("twenty seconds end the repeats, and no send outlives them", () => {
  const sentAt = (now) => after({ ...pressed(), sends: 2 }, null, moment({ now }));
  assert.equal(sentAt(18900).wait, 1000);
  assert.equal(rules.waitOver(sentAt(18900).card, moment({ now: 19900 })).send.timeout, 100);
  assert.equal(sentAt(19000).card.news, "failed");
});

test("beyond ten repeats in a minute on the whole page a card fails at once", () => {
  const ten = Array.from({ length: 10 }, (_, index) => 1000 * index);
  assert.equal(after(pressed(), busy, moment({ now: 9000, repeats: ten })).card.news, "failed");
  assert.equal(after(pressed(), busy, moment({ now: 9000, repeats: ten.slice(1) })).card.phase, "waiting");
  assert.equal(rules.waitBefore({ ...card(), sends: 1, since: 60000 }, null, moment({ now: 60000, repeats: ten })), 500);
});

// Offline

test("offline: sent once all the same, then one try when the network is back", () => {
  const failed = after(pressed(), null, moment({ online: false })).card;
  assert.deepEqual([failed.news, rules.canRetry(failed), show(failed).liked], ["offline", true, false]);
  const step = rules.online(failed, moment({ now: 90000 }));
  assert.deepEqual([step.send.intent.seq, step.send.timeout, step.repeat], [1, 8000, 90000]);
  assert.equal(after(step.card, null, moment({ now: 90100 })).card.news, "failed");
  assert.equal(after(step.card, null, moment({ online: false })).card.news, "offline");
});

test("a wait that ends offline sends nothing", () => {
  const waiting = after(pressed(), busy).card;
  assert.deepEqual(rules.waitOver(waiting, moment({ online: false })).card.news, "offline");
});

test("coming online is nothing to cards that do not wait for it", () => {
  for (const one of [card(), pressed(), after(pressed(), reply(500)).card]) assert.deepEqual(rules.online(one, moment()), { card: one });
});

// Old servers

test("405 with no uncertain send: the same intent by POST", () => {
  const { send } = after(pressed(), old);
  assert.deepEqual(send, { intent: pressed().intent, method: "POST", timeout: 8000 });
});

test("405 for a wish that is already the confirmed state: no toggle, which would undo it", () => {
  const two = rules.press(pressed("liked"), "liked", order(2), moment()).card;
  const step = after(after(two, old).card, old);
  assert.deepEqual([step.send, step.card.intent, show(step.card)], [undefined, null, { ...NOTHING, count: 10, news: "" }]);
});

test("405 for a wish that this address cannot toggle to: no toggle, but repeats and Retry", () => {
  const liked = pressed("not_interested", card(LIKED));
  const two = rules.press(liked, "not_interested", order(2), moment()).card;
  const now = exhaust(after(two, old).card, old);
  assert.deepEqual([verdictOf(now.intent), show(now)], [NOTHING, { ...LIKED, count: 10, news: "failed" }]);
});

test("405 after a send without a certain answer, of whatever press or Retry: never POST", () => {
  const lost = rules.waitOver(after(pressed(), null).card, moment()).card;
  const failed = after(pressed(), reply(500)).card;
  const cases = [lost, rules.retry(failed, order(2), moment()).card, rules.press(failed, "not_interested", order(2), moment()).card];
  for (const one of cases) {
    const step = after(one, old);
    assert.deepEqual([step.send, step.card.phase], [undefined, "waiting"]);
    assert.equal(exhaust(one, old).news, "failed");
  }
});

test("a confirmed answer makes the card certain again", () => {
  const lost = rules.waitOver(after(pressed(), null).card, moment()).card;
  const known = after(lost, saved({ ...LIKED, version: 4 })).card;
  assert.equal(after(rules.press(known, "liked", order(2), moment()).card, old).send.method, "POST");
});

test("an intent stored by an earlier load counts as a send without a certain answer, even if the page shows it", () => {
  for (const from of [card(), card(LIKED)]) {
    const found = rules.restored(from, pressed().intent).card;
    const again = rules.press(found, "not_interested", order(2), moment()).card;
    assert.equal(after(again, old).card.phase, "waiting");
  }
});

test("b61: after an uncertain failure of a POST there is Reload and no repeat", () => {
  const posted = after(pressed(), old).card;
  for (const came of [null, busy, reply(500), reply(200, { status: "ok" }), reply(502), old]) {
    const step = after(posted, came);
    assert.deepEqual([step.card.news, step.send, step.wait, rules.canRetry(step.card)], ["unconfirmed", undefined, undefined, false]);
  }
});

test("an old reply keeps the version, tells no tab, and moves the count by one only if the state differs", () => {
  const posted = after(pressed(), old).card;
  const bare = after(posted, reply(200, { liked: true }));
  assert.deepEqual([bare.card.server, bare.tell], [state({ ...LIKED, like_count: 11 }), undefined]);
  assert.equal(after(posted, reply(200, { liked: true, like_count: 40 })).card.server.like_count, 40);
  const same = after(posted, reply(200, { liked: false })).card;
  assert.deepEqual([same.server, same.news], [state(), "changed"]);
});

test("an old reply of one field says of the other what follows from the confirmed state", () => {
  const hidden = after(after(pressed("not_interested", card(LIKED)), old).card, reply(200, { not_interested: true })).card;
  assert.deepEqual(hidden.server, state({ ...NOT_INTERESTED, like_count: 9 }));
  const unhidden = after(after(pressed("undo", card(NOT_INTERESTED)), old).card, reply(200, { not_interested: false })).card;
  assert.deepEqual(unhidden.server, state(NOTHING));
});

test("a reply with `changed` is a new server's whatever the method", () => {
  const posted = after(pressed(), old).card;
  const step = after(posted, saved({ ...LIKED, like_count: 11, version: 4 }));
  assert.deepEqual(step.tell, state({ ...LIKED, like_count: 11, version: 4 }));
});

// Other tabs, history, storage

test("another tab's state is adopted only if its version is higher, and never told on", () => {
  for (const [version, adopted] of [[2, false], [3, false], [4, true]]) {
    const step = rules.told(card(), state({ ...LIKED, version }), "tab");
    assert.equal(step.card.server.liked, adopted);
    assert.equal(step.tell, undefined);
  }
});

test("what the server says on return is adopted at the same version too: its count may be newer", () => {
  assert.equal(rules.told(card(), state({ like_count: 12 }), "server").card.server.like_count, 12);
  assert.equal(rules.told(card(), state({ like_count: 12, version: 2 }), "server").card.server.like_count, 10);
});

test("a state from elsewhere ends a failed intent that it shows, and no other", () => {
  const failed = after(pressed(), reply(500)).card;
  assert.deepEqual(rules.told(failed, state({ ...LIKED, version: 4 }), "tab").card.intent, null);
  assert.equal(rules.told(failed, state({ ...NOT_INTERESTED, version: 4 }), "tab").card.news, "failed");
  assert.equal(rules.told(pressed(), state({ ...LIKED, version: 4 }), "tab").card.phase, "sending");
});

test("while a save is open a told state only moves what the count is reckoned from", () => {
  const heard = rules.told(pressed(), state({ like_count: 30, version: 4 }), "tab").card;
  assert.deepEqual(show(heard), { ...LIKED, count: 31, news: "saving" });
});

test("back on the page a wait has become Retry, a flight is still a flight", () => {
  const left = (one, at = {}) => rules.returned(one, moment(at)).card;
  assert.equal(left(after(pressed(), busy).card).news, "failed");
  assert.equal(left(after(pressed(), reply(429, {}, 60000)).card).news, "failed");
  assert.equal(left(pressed()).phase, "sending");
  assert.equal(left(card()).phase, "rest");
});

test("back on the page nothing waits for a network that is there, for its coming was not told", () => {
  const failed = after(pressed(), null, moment({ online: false })).card;
  assert.equal(rules.returned(failed, moment()).card.news, "failed");
  assert.equal(rules.returned(failed, moment({ online: false })).card.news, "offline");
});

test("a stored intent is dropped if the page shows it, else offered with Retry, and never sent by itself", () => {
  const { intent } = pressed();
  assert.deepEqual([rules.restored(card(LIKED), intent).card.intent, rules.restored(card(LIKED), intent).card.news], [null, ""]);
  const step = rules.restored(card(), intent);
  assert.deepEqual([step.card.intent, step.card.news, step.send], [intent, "failed", undefined]);
});

test("an article that the page does not show is always offered with Retry", () => {
  const unknown = rules.newCard(7, rules.UNKNOWN);
  const undo = { ...pressed("undo", card(NOT_INTERESTED)).intent };
  assert.equal(rules.restored(unknown, undo).card.news, "failed");
});
