/**
 * What outlives a page: who this browser is, its place in the order of presses, and the intents without an answer.
 *
 * @typedef {import("./feedback_state.js").Intent} Intent
 * @typedef {import("./feedback_state.js").Order} Order
 * @typedef {{reader: number | null, intent: Intent, title: string, lang: string}} Kept
 */

const CLIENT = "devpick.client";
const SEQ = "devpick.seq";
const INTENTS = "devpick.intents";

/** A browser may refuse its storage (private windows, a full disk): then this page remembers for itself.
 * @param {"localStorage" | "sessionStorage"} name @returns {Pick<Storage, "getItem" | "setItem">} */
function open(name) {
  try {
    window[name].setItem("devpick.test", "");
    window[name].removeItem("devpick.test");
    return window[name];
  } catch {
    const items = new Map();
    return { getItem: (key) => items.get(key) ?? null, setItem: (key, value) => void items.set(key, value) };
  }
}

const browser = open("localStorage");
const tab = open("sessionStorage");

// Settled at load, not at the first press: another tab sees what is stored here only a moment later.
const client = browser.getItem(CLIENT) ?? newClient();
put(browser, CLIENT, client);

let last = 0; // of this page, should the browser's storage be full

/** The place of a press: its time, at least one more than the last of this browser. @returns {Order} */
export function nextOrder() {
  last = Math.max(Date.now(), (Number(browser.getItem(SEQ)) || 0) + 1, last + 1);
  put(browser, SEQ, String(last));
  return { client, seq: last };
}

/** A full disk must not keep a press from being sent. @param {Pick<Storage, "setItem">} storage @param {string} key @param {string} value */
function put(storage, key, value) {
  try {
    storage.setItem(key, value);
  } catch {
    // Then a reload does not know of it.
  }
}

/** Not `randomUUID`, which exists over HTTPS only. */
function newClient() {
  return Array.from(crypto.getRandomValues(new Uint32Array(4)), (number) => number.toString(36).padStart(7, "0")).join("");
}

/** The intents of this reader that were pressed less than `life` ms ago; all others are dropped.
 * @param {number | null} reader @param {number} life @returns {Kept[]} */
export function keptIntents(reader, life) {
  const kept = all().filter((one) => one.reader === reader && Date.now() - one.intent.seq < life);
  put(tab, INTENTS, JSON.stringify(kept));
  return kept;
}

/** @param {Kept} record */
export function keepIntent(record) {
  put(tab, INTENTS, JSON.stringify([...without(record.reader, record.intent.article), record]));
}

/** @param {number | null} reader @param {number} article */
export function dropIntent(reader, article) {
  put(tab, INTENTS, JSON.stringify(without(reader, article)));
}

/** @param {number | null} reader @param {number} article */
function without(reader, article) {
  return all().filter((one) => one.reader !== reader || one.intent.article !== article);
}

/** @returns {Kept[]} */
function all() {
  try {
    return JSON.parse(tab.getItem(INTENTS) ?? "[]");
  } catch {
    return [];
  }
}
