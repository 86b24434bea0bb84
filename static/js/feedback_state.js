/**
 * The rules of one card: what was asked for, what the server confirmed, and what follows from an event.
 *
 * Pure: no page, no network, no clock of its own. An event takes a card and returns a step: the card after it, and what is to
 * be done. The card is never changed in place.
 *
 * @typedef {"liked" | "not_interested"} Field the field of the pressed button's address
 * @typedef {{liked: boolean, not_interested: boolean}} Verdict
 * @typedef {Verdict & {like_count: number, version: number}} State what the server confirmed
 * @typedef {{client: string, seq: number}} Order
 * @typedef {Verdict & Order & {article: number, field: Field}} Intent the whole verdict that one press asked for
 * @typedef {"PUT" | "POST"} Method
 * @typedef {"" | "saving" | "failed" | "wait" | "offline" | "unconfirmed"
 *   | "login" | "refused" | "gone" | "reader" | "changed"} News
 *
 * @typedef {object} Card
 * @property {number} article
 * @property {State} server the last confirmed state
 * @property {Intent | null} intent the latest wish, until it is answered
 * @property {"rest" | "sending" | "waiting" | "failed"} phase
 * @property {News} news what the card has to say
 * @property {number} wait how long the server asked us to wait, in ms (news "wait")
 * @property {{intent: Intent, method: Method} | null} flight the one send under way; its intent may be older than `intent`
 * @property {number} sends of this act, the browser's own repeats not counted
 * @property {number} since when this act's first send began
 * @property {boolean} retried this act is a Retry
 * @property {boolean} renewed this act has had its one more send after a refused CSRF token
 * @property {boolean} last no repeat follows this send
 * @property {boolean} uncertain since the last confirmed answer, or page load, a send ended without a certain answer
 *
 * @typedef {object} Policy the numbers of articles/retry.py, times in ms
 * @property {number[]} ceilings
 * @property {number} max_sends
 * @property {number} deadline
 * @property {number} timeout
 * @property {number} longest_retry_after
 * @property {number} repeats_per_minute
 * @property {number} minute
 * @property {number} intent_life
 *
 * @typedef {object} Moment what the rules must know of the world
 * @property {number} now in ms, from any fixed point
 * @property {boolean} online
 * @property {number} chance at least 0, below 1
 * @property {readonly number[]} repeats when the page's latest automatic repeats were or will be sent
 * @property {Policy} policy
 *
 * @typedef {object} Step
 * @property {Card} card
 * @property {{intent: Intent, method: Method, timeout: number}} [send]
 * @property {number} [wait] ms until `waitOver`
 * @property {number} [repeat] when an automatic repeat is sent: it counts against the page's minute
 * @property {State} [tell] what the reader's other tabs should know
 *
 * @typedef {{status: number, type: string, body: any, after: number | null}} Reply `after`: Retry-After in ms
 * @typedef {{kind: "confirmed", state: State} | {kind: "toggled", value: boolean, count: number | null}} Confirmed
 * @typedef {Confirmed | {kind: "again", after: number | null}
 *   | {kind: "unsure" | "csrf" | "old" | "login" | "refused" | "gone" | "reader"}} Outcome
 */

/** @type {State} for an article whose state the page does not know; any confirmed state is newer */
export const UNKNOWN = { liked: false, not_interested: false, like_count: 0, version: -1 };
const NOTHING_SAID = { liked: false, not_interested: false };
const PASSING = [408, 425, 429, 502, 503, 504];
const RETRY = ["failed", "wait", "offline"];

/** @param {number} article @param {State} server @returns {Card} */
export function newCard(article, server) {
  const act = { sends: 0, since: 0, retried: false, renewed: false, last: false };
  return { article, server, intent: null, phase: "rest", news: "", wait: 0, flight: null, uncertain: false, ...act };
}

// What the card shows

/** @param {Verdict} a @param {Verdict} b */
export const same = (a, b) => a.liked === b.liked && a.not_interested === b.not_interested;

/** @param {Card} card */
export const isSaving = (card) => card.phase === "sending" || card.phase === "waiting";

/** A failure goes back to the confirmed verdict, so that a second press asks for the same thing, not the opposite.
 * @param {Card} card @returns {Verdict} */
export const shown = (card) => (isSaving(card) && card.intent) || card.server;

/** @param {Card} card */
export const likeCount = (card) => card.server.like_count + Number(shown(card).liked) - Number(card.server.liked);

/** @param {Card} card */
export const canRetry = (card) => card.phase === "failed" && RETRY.includes(card.news);

// What a reader does

/** @param {Card} card @param {Field | "undo"} button @param {Order} order @param {Moment} moment @returns {Step} */
export function press(card, button, order, moment) {
  if (card.news === "gone") return { card };
  const field = button === "undo" ? "not_interested" : button;
  const back = button === "undo" || shown(card)[button];
  const wish = back ? NOTHING_SAID : { ...NOTHING_SAID, [button]: true };
  return act({ ...card, retried: false }, { article: card.article, field, ...wish, ...order }, moment);
}

/** The recorded verdict again: a new act, so with a new place in the order. @param {Card} card @param {Order} order
 * @param {Moment} moment @returns {Step} */
export function retry(card, order, moment) {
  if (!card.intent || !canRetry(card)) return { card };
  return act({ ...card, retried: true }, { ...card.intent, ...order }, moment);
}

/** One send at a time: while one is under way the new intent only takes the old one's place.
 * @param {Card} card @param {Intent} intent @param {Moment} moment @returns {Step} */
function act(card, intent, moment) {
  /** @type {Card} */
  const next = { ...card, intent, phase: "sending", news: "saving", sends: 0, renewed: false, last: false };
  return card.flight ? { card: next } : send(next, intent, "PUT", moment);
}

/** @param {Card} card @param {Intent} intent @param {Method} method @param {Moment} moment @returns {Step} */
function send(card, intent, method, { now, policy }) {
  const since = card.sends ? card.since : now;
  const timeout = method === "POST" ? policy.timeout : Math.min(policy.timeout, since + policy.deadline - now);
  /** @type {Card} */
  const next = { ...card, phase: "sending", news: "saving", sends: card.sends + 1, since, flight: { intent, method } };
  return { card: next, send: { intent, method, timeout } };
}

// What comes back

/** What a reply means; total. Without a reply (network error, time-out, cut): null.
 * @param {Reply | null} reply @param {Field} field @returns {Outcome} */
export function classify(reply, field) {
  if (!reply) return { kind: "again", after: null };
  const { status, body } = reply;
  if (reply.type === "opaqueredirect" || status === 401) return { kind: "login" };
  if (status === 200) return read(body, field);
  if (PASSING.includes(status)) return { kind: "again", after: reply.after };
  if (status === 404 || status === 410) return { kind: "gone" };
  if (status === 405) return { kind: "old" };
  if (status === 403 && body?.code === "csrf_failed") return { kind: "csrf" };
  if (status === 403 && body?.code === "reader_changed") return { kind: "reader" };
  return { kind: status >= 400 && status < 500 ? "refused" : "unsure" };
}

/** A reply with `changed` is a new server's. An old one tells at least the field of the pressed button.
 * @param {any} body @param {Field} field @returns {Outcome} */
function read(body, field) {
  const count = Number.isInteger(body?.like_count) ? body.like_count : null;
  const isNew = body?.changed !== undefined;
  if (isNew && isVerdict(body) && count !== null) return { kind: "confirmed", state: stateOf(body) };
  if (isNew || typeof body?.[field] !== "boolean") return { kind: "again", after: null };
  return { kind: "toggled", value: body[field], count };
}

/** @param {any} body */
const isVerdict = (body) => typeof body.liked === "boolean" && typeof body.not_interested === "boolean";

/** @param {any} body @returns {State} */
export const stateOf = ({ liked, not_interested, like_count, version }) => ({ liked, not_interested, like_count, version });

/** The send under way has ended. @param {Card} card @param {Outcome} outcome @param {Moment} moment @returns {Step} */
export function answered(card, outcome, moment) {
  const { flight, intent } = card;
  if (!flight || !intent) return { card };
  const unsure = outcome.kind === "again" || outcome.kind === "unsure";
  const landed = { ...card, flight: null, uncertain: card.uncertain || unsure };
  if (outcome.kind === "confirmed" || outcome.kind === "toggled") {
    return confirmed(landed, intent, flight.intent, outcome, moment);
  }
  if (intent.seq !== flight.intent.seq) return send({ ...landed, sends: 0 }, intent, "PUT", moment);
  if (flight.method === "POST" && (unsure || outcome.kind === "old")) return fail(landed, "unconfirmed");
  switch (outcome.kind) {
    case "again":
      return again(landed, outcome.after, moment);
    case "unsure":
      return fail(landed, "failed");
    case "csrf":
      return landed.renewed ? fail(landed, "failed") : send({ ...landed, renewed: true }, intent, "PUT", moment);
    case "old":
      return toOld(landed, intent, moment);
    case "login":
      return fail(landed, "login");
    default:
      return { card: rest(landed, outcome.kind) };
  }
}

/** An old server only toggles the field of its address. A new one may have saved an earlier send whose answer was lost: that save
 * would be toggled away; and a toggle of a field that is already as it was asked for would not lead to the wish.
 * @param {Card} card @param {Intent} intent @param {Moment} moment @returns {Step} */
function toOld(card, intent, moment) {
  if (card.uncertain) return again(card, null, moment);
  if (same(card.server, intent)) return { card: rest(card, "") };
  const leadsThere = card.server[intent.field] !== intent[intent.field];
  return leadsThere ? send(card, intent, "POST", moment) : again(card, null, moment);
}

/** An older state ends its intent all the same; only it is not adopted. A newer intent is sent unless it is already true.
 * @param {Card} card @param {Intent} intent @param {Intent} sent @param {Confirmed} outcome @param {Moment} moment
 * @returns {Step} */
function confirmed(card, intent, sent, outcome, moment) {
  const state = stateAfter(card.server, sent.field, outcome);
  const isCurrent = state.version >= card.server.version;
  const next = { ...card, uncertain: false, server: isCurrent ? state : card.server };
  const told = isCurrent && outcome.kind === "confirmed" ? { tell: state } : {};
  if (intent.seq !== sent.seq && !(isCurrent && same(state, intent))) {
    return { ...send({ ...next, sends: 0 }, intent, "PUT", moment), ...told };
  }
  return { card: rest(next, same(next.server, intent) ? "" : "changed"), ...told };
}

/** An old server's reply knows no version and perhaps only its own field: the rest follows from what was confirmed before.
 * @param {State} server @param {Field} field @param {Confirmed} outcome @returns {State} */
function stateAfter(server, field, outcome) {
  if (outcome.kind === "confirmed") return { ...outcome.state, version: outcome.state.version ?? server.version };
  const { value, count } = outcome;
  /** @type {Verdict} */
  const { liked, not_interested } = Object.assign({ ...(value ? NOTHING_SAID : server) }, { [field]: value });
  const moved = Number(liked) - Number(server.liked);
  return { liked, not_interested, like_count: count ?? server.like_count + moved, version: server.version };
}

/** @param {Card} card @param {number | null} after @param {Moment} moment @returns {Step} */
function again(card, after, moment) {
  if (!moment.online) return fail(card, "offline");
  const wait = card.last ? null : waitBefore(card, after, moment);
  if (wait === null) return after ? fail(card, "wait", after) : fail(card, "failed");
  return { card: { ...card, phase: "waiting" }, wait, repeat: moment.now + wait };
}

/** How long to wait before the next send by itself, in ms; null: not at all. @param {Card} card @param {number | null} after
 * @param {Moment} moment @returns {number | null} */
export function waitBefore(card, after, moment) {
  const { policy, now } = moment;
  const least = after ?? 0;
  if (card.sends >= policy.max_sends || least > policy.longest_retry_after) return null;
  const wait = Math.max(moment.chance * policy.ceilings[card.sends - 1], least);
  const inTime = now + wait < card.since + policy.deadline;
  return inTime && hasRoom(moment, now + wait) ? wait : null;
}

/** @param {Moment} moment @param {number} at */
function hasRoom({ repeats, policy }, at) {
  return repeats.filter((other) => Math.abs(other - at) < policy.minute).length < policy.repeats_per_minute;
}

/** @param {Card} card @param {News} news @param {number} [wait] @returns {Step} */
function fail(card, news, wait) {
  return { card: { ...card, phase: "failed", news, wait: wait ?? 0 }, wait };
}

/** @param {Card} card @param {News} news @returns {Card} */
function rest(card, news) {
  return { ...card, intent: null, phase: "rest", news };
}

// What time, other tabs and the browser's history bring

/** @param {Card} card @param {Moment} moment @returns {Step} */
export function waitOver(card, moment) {
  if (card.news === "wait") return fail(card, "failed");
  if (card.phase !== "waiting" || !card.intent) return { card };
  return moment.online ? send(card, card.intent, "PUT", moment) : fail(card, "offline");
}

/** The network is back: one try. @param {Card} card @param {Moment} moment @returns {Step} */
export function online(card, moment) {
  if (card.news !== "offline" || !card.intent) return { card };
  if (!hasRoom(moment, moment.now)) return fail(card, "failed");
  return { ...send({ ...card, sends: 0, last: true }, card.intent, "PUT", moment), repeat: moment.now };
}

/** A confirmed state from elsewhere. Another tab's is news only if it is higher: two tabs that adopt equals echo for ever.
 * @param {Card} card @param {State} state @param {"tab" | "server"} from @returns {Step} */
export function told(card, state, from) {
  if (state.version < card.server.version) return { card };
  const adopt = from === "server" || state.version > card.server.version;
  const next = { ...card, server: adopt ? state : card.server };
  const isTrue = card.phase === "failed" && card.intent && same(state, card.intent);
  return { card: isTrue ? rest(next, "") : next };
}

/** Back on a page whose timers were stopped when it was left, and which was told of no network that came back meanwhile.
 * @param {Card} card @param {Moment} moment @returns {Step} */
export function returned(card, { online }) {
  const hasWaited = card.phase === "waiting" || card.news === "wait" || (card.news === "offline" && online);
  return hasWaited ? fail(card, "failed") : { card };
}

/** An intent that an earlier load of the page stored. @param {Card} card @param {Intent} intent @returns {Step} */
export function restored(card, intent) {
  const isTrue = card.server.version !== UNKNOWN.version && same(card.server, intent);
  const found = { ...card, uncertain: true };
  return isTrue ? { card: found } : fail({ ...found, intent }, "failed");
}
