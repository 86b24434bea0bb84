/**
 * Opening an article marks it read. Without this script the button beside the tags does the same as a plain form.
 *
 * No list is written to by looking at it, so the mark is a request of its own; it outlives the page that is being left. If it is
 * lost, the article is opened again or stays unread: nobody is asked to repeat it.
 */

import { addressOf, csrfToken, readerHeader } from "./feedback_api.js";

/** @typedef {import("./feedback_api.js").Page} Page */

/** @type {Page | null} */
const page = JSON.parse(document.getElementById("page-data")?.textContent ?? "null");

/** @param {Page} page @param {MouseEvent} event a click, also with the middle button or a key */
async function opened(page, event) {
  const link = event.target instanceof Element ? event.target.closest(".title a") : null;
  const card = link?.closest("article-card");
  if (event.button > 1 || !(card instanceof HTMLElement) || "read" in card.dataset) return;
  if (await isSaved(Number(card.dataset.article), page)) show(card);
}

/** @param {number} article @param {Page} page @returns {Promise<boolean>} */
async function isSaved(article, page) {
  const response = await fetch(addressOf(page.urls.read, article), {
    method: "PUT",
    body: '{"read": true}',
    headers: { "Content-Type": "application/json", "X-CSRFToken": csrfToken(page), ...readerHeader(page) },
    keepalive: true,
    redirect: "manual",
  }).catch(() => null);
  return response?.ok ?? false;
}

/** @param {HTMLElement} card */
function show(card) {
  card.dataset.read = "";
  card.querySelector("button.read")?.setAttribute("aria-pressed", "true");
  const field = card.querySelector("input[name=read]"); // the button takes the mark back now
  if (field instanceof HTMLInputElement) field.value = "false";
}

if (page && page.reader !== null) {
  for (const kind of /** @type {const} */ (["click", "auxclick"])) {
    document.addEventListener(kind, (event) => opened(page, event));
  }
}
