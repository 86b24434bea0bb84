/**
 * <article-card>: shows what the rules say, and hands them what happens. No rule of feedback stands here.
 *
 * @typedef {import("./feedback_state.js").Field} Field
 * @typedef {import("./feedback_state.js").Moment} Moment
 * @typedef {import("./feedback_state.js").News} News
 * @typedef {import("./feedback_state.js").Step} Step
 * @typedef {"" | "undo" | "retry" | "log_in" | "reload"} Action the button in the note row
 */

import { addressOf, csrfToken, currentStates, startSave } from "./feedback_api.js";
import * as rules from "./feedback_state.js";
import { dropIntent, keepIntent, keptIntents, nextOrder } from "./stored.js";

const SLOW = 300; // ms; a quicker save does not write "Saving…"
const LONGEST_TIMER = 2 ** 31 - 1; // ms; a longer one would fire at once

/** @type {{[news in News]?: Action}} what a piece of news offers */
const OFFERS = {
  failed: "retry",
  wait: "retry",
  offline: "retry",
  unconfirmed: "reload",
  reader: "reload",
  login: "log_in",
};

/** @type {import("./feedback_api.js").Page} */
const page = JSON.parse(document.getElementById("page-data")?.textContent ?? "null");
const plural = new Intl.PluralRules(document.documentElement.lang);

/** @type {number[]} when this page's automatic repeats were or will be sent */
let repeats = [];

/** @returns {Moment} */
function moment() {
  const now = performance.now();
  repeats = repeats.filter((at) => now - at < page.policy.minute);
  return { now, online: navigator.onLine, chance: Math.random(), repeats, policy: page.policy };
}

class ArticleCard extends HTMLElement {
  card = rules.newCard(0, rules.UNKNOWN);
  /** @type {import("./feedback_api.js").Save | undefined} */
  save;
  /** @type {Field} whose button was pressed last */
  field = "liked";
  text = "";
  /** @type {Action} */
  action = "";
  timer = 0;
  hasSpoken = false;

  connectedCallback() {
    if (this.card.article) return;
    const { article, liked, notInterested, likeCount, version } = this.dataset;
    const verdict = { liked: liked === "true", not_interested: notInterested === "true" };
    this.card = rules.newCard(Number(article), { ...verdict, like_count: Number(likeCount), version: Number(version) });
    [this.text, this.action] = this.noteNow();
    this.addEventListener("submit", (event) => this.submitted(event));
    this.note.addEventListener("click", (event) => this.clicked(event));
  }

  get note() {
    return /** @type {HTMLElement} */ (this.querySelector(".note"));
  }

  /** Where the note row tells news; while it is empty, the row gives the reasons. */
  get news() {
    return /** @type {HTMLElement} */ (this.querySelector(".news"));
  }

  get heading() {
    return /** @type {HTMLElement} */ (this.querySelector(".title"));
  }

  titleText() {
    return this.heading.textContent?.trim() ?? "";
  }

  /** @param {Field} field @returns {HTMLElement | null} none on a line for an article that this list does not show */
  button(field) {
    return this.querySelector(`[data-verdict=${field}] .act`);
  }

  // What a reader does

  /** @param {SubmitEvent} event */
  submitted(event) {
    const button = /** @type {HTMLFormElement} */ (event.target).dataset.verdict;
    if (!button) return; // "Log in to save" leaves the page
    event.preventDefault();
    this.take(rules.press(this.card, /** @type {Field | "undo"} */ (button), nextOrder(), moment()));
  }

  /** @param {MouseEvent} event */
  clicked(event) {
    if (!(event.target instanceof HTMLButtonElement)) return;
    if (this.action === "retry") this.take(rules.retry(this.card, nextOrder(), moment()));
    if (this.action === "reload") location.reload();
  }

  // What follows

  /** @param {Step} step */
  take(step) {
    const before = this.card;
    this.card = step.card;
    this.field = step.card.intent?.field ?? this.field;
    if (step.card.intent !== before.intent) this.keep();
    if (step.repeat !== undefined) repeats.push(step.repeat);
    if (step.send || step.wait !== undefined) clearTimeout(this.timer);
    if (step.wait !== undefined) this.timer = setTimeout(() => this.waited(), Math.min(step.wait, LONGEST_TIMER));
    if (step.send) this.send(step.send);
    if (step.tell) channel?.postMessage({ id: step.card.article, ...step.tell });
    this.render();
    if (step.card.news !== before.news) this.speak();
  }

  waited() {
    this.take(rules.waitOver(this.card, moment()));
  }

  /** @param {NonNullable<Step["send"]>} send */
  async send(send) {
    setTimeout(() => this.render(), SLOW + 20); // a little later: clocks are coarse
    this.save = startSave(send, page);
    const outcome = await this.save.outcome;
    this.take(rules.answered(this.card, outcome, moment()));
  }

  /** An intent is stored until it is answered: the page may be left or loaded anew. */
  keep() {
    const { article, intent } = this.card;
    if (!intent) return dropIntent(page.reader, article);
    return keepIntent({ reader: page.reader, intent, title: this.titleText(), lang: this.heading.lang });
  }

  /** The page is left, and may come back: stop the clocks. */
  leave() {
    clearTimeout(this.timer);
    this.save?.pause();
  }

  comeBack() {
    if (this.card.flight) this.save?.resume();
    this.take(rules.returned(this.card, moment()));
  }

  // What is shown

  render() {
    const { card } = this;
    const isSaving = rules.isSaving(card);
    for (const field of /** @type {Field[]} */ (["liked", "not_interested"])) {
      const button = this.button(field);
      button?.setAttribute("aria-pressed", String(rules.shown(card)[field]));
      mark(button, "aria-busy", isSaving && field === this.field);
      mark(button, "aria-disabled", card.news === "gone");
    }
    const likes = rules.likeCount(card);
    const word = plural.select(likes) === "one" ? page.likes.one : page.likes.other;
    this.querySelector(".count")?.replaceChildren(String(likes), span("vh", ` ${word}`));
    this.dataset.state = card.news || "idle";
    this.toggleAttribute("data-folded", this.isFolded());
    this.renderNote();
    mark(this.note.querySelector("button"), "aria-disabled", isSaving && this.action === "retry");
  }

  isSlow() {
    return performance.now() - this.card.since > SLOW;
  }

  isFolded() {
    return this.button("not_interested") !== null && rules.shown(this.card).not_interested;
  }

  /** @returns {[text: string, action: Action]} */
  noteNow() {
    const { news, retried } = this.card;
    const { texts } = page;
    if (news === "saving" && retried) return [texts.saving, "retry"]; // stays, so that the focus need not move
    const said = news === "saving" && !this.isSlow() ? "" : this.newsText();
    const action = OFFERS[news] ?? (this.isFolded() && news !== "gone" ? "undo" : "");
    if (this.isFolded()) return [said || texts.hidden, action];
    if (news === "" && this.isAnsweredLine()) return [texts.saved, ""];
    return [said, action];
  }

  newsText() {
    const { news, wait } = this.card;
    if (news !== "wait") return page.texts[news] ?? "";
    const seconds = Math.ceil(wait / 1000);
    const text = seconds < 120 ? page.texts.wait_seconds : page.texts.wait_minutes;
    return text.replace("{n}", String(seconds < 120 ? seconds : Math.ceil(seconds / 60)));
  }

  isAnsweredLine() {
    return !this.button("liked") && this.card.server.version !== rules.UNKNOWN.version;
  }

  renderNote() {
    const [text, action] = this.noteNow();
    const hadFocus = this.note.contains(document.activeElement);
    if (text !== this.text) this.news.textContent = text;
    if (action !== this.action) this.offer(action);
    [this.text, this.action] = [text, action];
    if (hadFocus && !this.note.contains(document.activeElement)) this.refocus();
  }

  /** @param {Action} action */
  offer(action) {
    this.note.querySelector("button")?.remove();
    this.querySelector("form.login")?.remove();
    if (!action) return;
    const button = document.createElement("button");
    button.className = "retry";
    button.textContent = page.texts[action];
    button.setAttribute("aria-describedby", this.heading.id);
    if (action === "undo") button.setAttribute("form", `u${this.card.article}`);
    else if (action === "log_in") button.setAttribute("form", this.loginForm());
    else button.type = "button";
    this.note.append(button);
  }

  /** "Log in to save": the intent goes to the log-in page, which saves it. @returns {string} the form's id */
  loginForm() {
    const { article, intent } = this.card;
    const form = document.createElement("form");
    Object.assign(form, { id: `login-${article}`, className: "login", method: "post", hidden: true });
    form.action = addressOf(page.urls.form, article);
    const { liked, not_interested, client, seq } = /** @type {import("./feedback_state.js").Intent} */ (intent);
    const fields = { liked, not_interested, client, seq, reader: page.reader ?? "", next: location.pathname + location.search };
    form.addEventListener("formdata", ({ formData }) => {
      for (const [name, value] of Object.entries(fields)) formData.set(name, String(value));
      formData.set("csrfmiddlewaretoken", csrfToken(page));
    });
    this.append(form);
    return form.id;
  }

  /** The focus never falls to the body: it goes to what took the place, else to the button that the news was about. */
  refocus() {
    const next = this.action === "undo" ? null : this.note.querySelector("button");
    (next ?? this.button(this.field) ?? this.heading).focus();
  }

  speak() {
    const { news } = this.card;
    if (news === "saving" || (news === "" && !this.hasSpoken)) return;
    this.hasSpoken = news !== "";
    const status = document.getElementById("status");
    if (status) status.textContent = `${this.titleText()}: ${this.newsText() || page.texts.saved}`;
  }
}

/** @param {Element | null} element @param {string} name @param {boolean} isOn */
function mark(element, name, isOn) {
  if (isOn) element?.setAttribute(name, "true");
  else element?.removeAttribute(name);
}

/** @param {string} className @param {(string | Node)[]} content */
function span(className, ...content) {
  const element = document.createElement("span");
  element.className = className;
  element.append(...content);
  return element;
}

// The page: its other tabs, its history, its network

/** @returns {ArticleCard[]} */
const allCards = () => [...document.querySelectorAll("article-card")].filter((card) => card instanceof ArticleCard);

/** @param {number} article */
const cardOf = (article) => allCards().find((card) => card.card.article === article);

/** @type {BroadcastChannel | null} */
let channel = null;

/** The tabs of one reader tell each other what the server answered. */
function openChannel() {
  if (channel || page.reader === null) return;
  channel = new BroadcastChannel(`devpick.reader.${page.reader}`);
  channel.onmessage = ({ data }) => hear(data, "tab");
}

/** @param {import("./feedback_state.js").State & {id: number}} state @param {"tab" | "server"} from */
function hear({ id, ...state }, from) {
  const card = cardOf(id);
  card?.take(rules.told(card.card, rules.stateOf(state), from));
}

/** What an earlier load of this page could not confirm is offered again, never sent by itself. */
function restoreIntents() {
  for (const { intent, title, lang } of keptIntents(page.reader, page.policy.intent_life)) {
    const card = cardOf(intent.article) ?? addLine(intent.article, title, lang);
    card.take(rules.restored(card.card, intent));
    card.keep();
  }
}

/** A line for an intent whose article is not in this list. @param {number} article @param {string} title @param {string} lang */
function addLine(article, title, lang) {
  const line = /** @type {ArticleCard} */ (document.createElement("article-card"));
  const heading = document.createElement("h2");
  const note = document.createElement("p");
  Object.assign(heading, { className: "title", id: `t${article}`, textContent: title, lang, tabIndex: -1 });
  note.className = "note";
  note.append(span("news"), " ");
  line.className = "card";
  Object.assign(line.dataset, { article, version: rules.UNKNOWN.version, likeCount: 0 });
  line.append(heading, note);
  document.getElementById("intents")?.append(line);
  return line;
}

function leave() {
  for (const card of allCards()) card.leave();
  channel?.close(); // an open one keeps the page out of the back/forward cache
  channel = null;
}

/** @param {PageTransitionEvent} event */
async function arrive(event) {
  openChannel();
  const [visit] = /** @type {PerformanceNavigationTiming[]} */ (performance.getEntriesByType("navigation"));
  if (!event.persisted && visit?.type !== "back_forward") return; // this page was just rendered
  for (const card of allCards()) card.comeBack();
  const ids = allCards().map((card) => card.card.article);
  if (!ids.length) return;
  for (const state of await currentStates(ids, page)) hear(state, "server");
}

if (page) {
  customElements.define("article-card", ArticleCard);
  restoreIntents();
  openChannel();
  addEventListener("pagehide", leave);
  addEventListener("pageshow", arrive);
  addEventListener("online", () => {
    for (const card of allCards()) card.take(rules.online(card.card, moment()));
  });
}
