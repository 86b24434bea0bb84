/** The rules against a small model of servers and a hostile network: every run ends as the reader meant. */

import assert from "node:assert/strict";
import { test } from "node:test";

import * as rules from "../../static/js/feedback_state.js";
import { moment, order } from "./helpers.js";

const RUNS = 4000;

/** A seeded generator (mulberry32), so that a failing run can be repeated. */
function generator(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

const same = (a, b) => a.liked === b.liked && a.not_interested === b.not_interested;

/** The stored verdict of one reader, behind servers of which some may be old. */
class Server {
  state = { liked: false, not_interested: false, like_count: 10, version: 0 };
  seen = -1;

  set(verdict) {
    if (same(verdict, this.state)) return false;
    const moved = Number(verdict.liked) - Number(this.state.liked);
    const { liked, not_interested } = verdict;
    this.state = { liked, not_interested, like_count: this.state.like_count + moved, version: this.state.version + 1 };
    return true;
  }

  /** The order guard: a lower seq is late, an equal one a repeat. */
  put(intent) {
    const stale = intent.seq < this.seen;
    const changed = intent.seq > this.seen && this.set(intent);
    this.seen = Math.max(this.seen, intent.seq);
    return { status: 200, type: "basic", after: null, body: { ...this.state, changed, stale } };
  }

  /** What was shipped before: it flips the field of its address, and knows no PUT. */
  old(method, { field }) {
    if (method === "PUT") return { status: 405, type: "basic", after: null, body: null };
    this.set({ liked: false, not_interested: false, [field]: !this.state[field] });
    return { status: 200, type: "basic", after: null, body: { [field]: this.state[field], like_count: this.state.like_count } };
  }

  take({ method, intent }, isOld) {
    return isOld ? this.old(method, intent) : this.put(intent);
  }
}

/** One life of a card: presses, sends and losses at random, then a healthy network until nothing is open. */
class Run {
  constructor(seed, { withOldServers, withReloads }) {
    this.random = generator(seed);
    Object.assign(this, { withOldServers, withReloads, seq: 0, late: [], open: null, wish: null });
    this.server = new Server();
    this.card = rules.newCard(7, this.server.state);
  }

  at = () => moment({ chance: this.random(), online: this.random() < 0.9 });
  pick = (list) => list[Math.floor(this.random() * list.length)];
  isOld = () => this.withOldServers && this.random() < 0.5;

  step({ card, send }) {
    this.card = card;
    assert.ok(!(rules.shown(card).liked && rules.shown(card).not_interested));
    if (!send) return;
    assert.equal(this.open, null, "two sends at once");
    this.open = send;
  }

  press() {
    const buttons = rules.shown(this.card).not_interested ? ["liked", "not_interested", "undo"] : ["liked", "not_interested"];
    this.step(rules.press(this.card, this.pick(buttons), order(++this.seq), this.at()));
    this.wish = this.card.intent;
  }

  retry() {
    this.step(rules.retry(this.card, order(++this.seq), this.at()));
  }

  /** The send under way ends: answered, answered twice, lost before or after the server, refused, or held back for later. */
  land(fate = this.pick(["good", "good", "twice", "reply lost", "never came", "late", "busy"])) {
    const send = this.open;
    if (send.method === "POST") fate = "good"; // no page can make an old server safe
    this.open = null;
    let reply = fate === "busy" ? { status: 503, type: "basic", after: null, body: null } : null;
    const isOld = this.isOld();
    if (fate === "late") this.late.push(send);
    if (["good", "twice", "reply lost"].includes(fate)) reply = this.server.take(send, isOld);
    if (fate === "twice") reply = this.server.take(send, isOld);
    if (fate === "reply lost") reply = null;
    this.step(rules.answered(this.card, rules.classify(reply, send.intent.field), this.at()));
  }

  arriveLate() {
    const [send] = this.late.splice(Math.floor(this.random() * this.late.length), 1);
    if (send) this.server.take(send, this.isOld());
  }

  /** What is still on its way arrives before the page is made: an intent that the new page shows is dropped, so the contract
   * promises nothing for a send that is older and arrives still later. */
  reload() {
    const { intent } = this.card;
    if (this.open?.method === "POST") return; // no page can make an old server safe
    if (this.open) this.late.push(this.open); // keepalive: it goes on without the page
    this.open = null;
    while (this.late.length) this.arriveLate();
    this.card = rules.newCard(7, this.server.state);
    if (intent) this.step(rules.restored(this.card, intent));
  }

  turn() {
    const chance = this.random();
    if (chance < 0.3) this.press();
    else if (chance < 0.4) this.retry();
    else if (chance < 0.45) this.arriveLate();
    else if (chance < 0.5 && this.withReloads) this.reload();
    else if (this.open) this.land();
    else this.step(rules.waitOver(this.card, this.at()));
  }

  heal() {
    this.withOldServers = false;
    this.at = () => moment();
    if (this.open) this.land("good");
    if (this.card.phase === "waiting") this.step(rules.waitOver(this.card, this.at()));
    if (this.card.news === "unconfirmed") this.reload();
    this.retry();
  }

  finish() {
    while (this.open || this.card.intent) this.heal();
    while (this.late.length) this.arriveLate();
  }
}

/** @returns what went wrong, or nothing */
function play(seed, circumstances) {
  const run = new Run(seed, circumstances);
  const turns = 3 + Math.floor(run.random() * 25);
  for (let turn = 0; turn < turns; turn += 1) run.turn();
  run.finish();
  const shown = rules.shown(run.card);
  assert.ok(same(run.server.state, run.wish ?? shown), `run ${seed}: the server holds something else than the last wish`);
  return run;
}

test("with new servers every run ends as the reader meant, and the card shows it", () => {
  for (let seed = 0; seed < RUNS; seed += 1) {
    const { card, server } = play(seed, {});
    assert.deepEqual([rules.shown(card).liked, rules.likeCount(card)], [server.state.liked, server.state.like_count], `run ${seed}`);
  }
});

test("through a deploy that flips between old and new servers no save is toggled away", () => {
  for (let seed = 0; seed < RUNS; seed += 1) play(seed, { withOldServers: true });
});

test("over reloads, too", () => {
  for (let seed = 0; seed < RUNS; seed += 1) play(seed, { withOldServers: true, withReloads: true });
});
