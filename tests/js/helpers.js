/** Samples and short ways through the rules, for the tests. */

import { answered, classify, newCard, press } from "../../static/js/feedback_state.js";

export const POLICY = {
  ceilings: [1000, 2000, 4000, 4000],
  max_sends: 5,
  deadline: 20000,
  timeout: 8000,
  longest_retry_after: 4000,
  repeats_per_minute: 10,
  minute: 60000,
  intent_life: 600000,
};

export const moment = (changes = {}) => ({ now: 0, online: true, chance: 0.5, repeats: [], policy: POLICY, ...changes });
export const order = (seq) => ({ client: "client-of-tests", seq });
export const state = (changes = {}) => ({ liked: false, not_interested: false, like_count: 10, version: 3, ...changes });
export const card = (changes = {}) => newCard(7, state(changes));

export const reply = (status, body, after = null) => ({ status, type: "basic", body, after });
export const saved = (changes = {}) => reply(200, { article: 7, ...state(changes), changed: true, stale: false });

/** A card whose button was pressed, with its first send under way. */
export const pressed = (button = "liked", from = card()) => press(from, button, order(1), moment()).card;

/** The step that a reply leads to. */
export const after = (from, came, at = moment()) => answered(from, classify(came, from.flight.intent.field), at);
