/**
 * One save on its way, and the states asked for on return. Nothing here knows of a card.
 *
 * @typedef {import("./feedback_state.js").Intent} Intent
 * @typedef {import("./feedback_state.js").Method} Method
 * @typedef {import("./feedback_state.js").Outcome} Outcome
 * @typedef {import("./feedback_state.js").Reply} Reply
 * @typedef {import("./feedback_state.js").State} State
 *
 * @typedef {object} Page the data that articles/page_data.py gives
 * @property {number | null} reader
 * @property {string} csrf_cookie
 * @property {import("./feedback_state.js").Policy} policy
 * @property {{liked: string, not_interested: string, read: string, states: string, form: string}} urls
 * @property {Record<string, string>} texts
 * @property {{one: string, other: string}} likes
 *
 * @typedef {{outcome: Promise<Outcome>, pause: () => void, resume: () => void}} Save
 */

import { classify } from "./feedback_state.js";

/** Send the intent once; `pause` stops its time-out (the page is left), `resume` gives it the whole time-out again.
 * @param {{intent: Intent, method: Method, timeout: number}} send @param {Page} page @returns {Save} */
export function startSave({ intent, method, timeout }, page) {
  const control = new AbortController();
  let timer = 0;
  const pause = () => clearTimeout(timer);
  const resume = () => {
    pause();
    timer = setTimeout(() => control.abort(), timeout);
  };
  resume();
  const nothingCame = () => null;
  const reply = exchange(intent, method, page, control.signal).catch(nothingCame).finally(pause);
  return { outcome: reply.then((came) => classify(came, intent.field)), pause, resume };
}

/** @param {Intent} intent @param {Method} method @param {Page} page @param {AbortSignal} signal @returns {Promise<Reply>} */
async function exchange({ article, field, ...wish }, method, page, signal) {
  const response = await fetch(addressOf(page.urls[field], article), {
    method,
    body: JSON.stringify(wish),
    headers: { "Content-Type": "application/json", "X-CSRFToken": csrfToken(page), ...readerHeader(page) },
    cache: "no-store",
    keepalive: true, // a press just before following a link is not lost
    redirect: "manual", // a followed redirect to a log-in page would be a 200
    signal,
  });
  const text = await response.text();
  return { status: response.status, type: response.type, body: json(response, text), after: retryAfter(response.headers) };
}

/** @param {string} pattern @param {number} article */
export const addressOf = (pattern, article) => pattern.replace("{article}", String(article));

/** Another reader may have logged in elsewhere in this browser: the server refuses what this page's reader did not say.
 * @param {Page} page @returns {Record<string, string>} */
export const readerHeader = ({ reader }) => (reader === null ? {} : { "X-DevPick-Reader": String(reader) });

/** Read at each send: a log-in in another tab renews it. @param {Page} page */
export function csrfToken({ csrf_cookie }) {
  const pair = document.cookie.split("; ").find((one) => one.startsWith(`${csrf_cookie}=`));
  return pair ? pair.slice(csrf_cookie.length + 1) : "";
}

/** @param {Response} response @param {string} text @returns {any} undefined for what is not JSON */
function json(response, text) {
  const [type] = (response.headers.get("Content-Type") ?? "").toLowerCase().split(";");
  try {
    return type === "application/json" || (type === "application/problem+json" && !response.ok) ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
}

/** Seconds or an HTTP date, by the server's own clock where it is told. @param {Headers} headers @returns {number | null} ms */
export function retryAfter(headers) {
  const value = headers.get("Retry-After") ?? "";
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  if (!value.endsWith(" GMT")) return null;
  const wait = Date.parse(value) - Date.parse(headers.get("Date") ?? new Date().toUTCString());
  return Number.isNaN(wait) ? null : Math.max(0, wait);
}

/** The present state of these articles; empty if the server does not tell.
 * @param {number[]} articles @param {Page} page @returns {Promise<(State & {id: number})[]>} */
export async function currentStates(articles, page) {
  const query = new URLSearchParams(articles.map((article) => ["id", String(article)]));
  try {
    const response = await fetch(`${page.urls.states}?${query}`, { headers: readerHeader(page), cache: "no-store" });
    return response.ok ? (await response.json()).results : [];
  } catch {
    return [];
  }
}
