// The conversation: turns made of pieces, each with an id. A piece that is the same is left alone.
import { fragment, make, morph } from "./html.js";
import { keep } from "./scroll.js";

const log = document.getElementById("log");
let order = [];            // ids of all turns
const turns = new Map();   // their elements
const pieces = new Map();  // the HTML that pieces have
let queue = [], busy = false, epoch = 0;
const after = [];          // what looks at new elements

export const onElement = (look) => after.push(look);

// where tells the server how much is here.
export function where() {
  let count = 0;
  while (count < order.length && turns.has(order[count])) count++;
  return queue.length || busy ? { count: 0, last: "" } : { count, last: count ? order[count - 1] : "" };
}

export function clear() { epoch++; queue = []; order = []; turns.clear(); pieces.clear(); log.replaceChildren(); }

// take draws notes, never for longer than a frame at once.
export function take(notes) {
  queue.push(...notes);
  if (!busy) draw();
}

async function draw() {
  busy = true;
  const mine = epoch;
  while (queue.length) {
    const end = performance.now() + 8;
    keep(() => {
      while (queue.length && performance.now() < end) step(queue.shift());
    });
    if (queue.length) await pause();
    if (mine !== epoch) break;
  }
  busy = false;
  if (queue.length) draw();
}
const pause = () => globalThis.scheduler?.yield?.() ?? new Promise((done) => setTimeout(done));

function step(n) {
  switch (n.t) {
    case "turns": arrange(n.turns ?? []); break;
    case "turn": whole(n.id, n.pieces ?? []); break;
    case "put": put(n.change); break;
  }
}

// arrange drops turns that are gone.
function arrange(ids) {
  order = ids;
  const there = new Set(ids);
  for (const [id, e] of turns) if (!there.has(id)) { for (const p of e.children) pieces.delete(p.id); e.remove(); turns.delete(id); }
}

function turn(id) {
  let e = turns.get(id);
  if (e) return e;
  e = make("article", { class: "turn", "data-turn": id });
  let at = order.indexOf(id);
  if (at < 0) { at = order.length; order.push(id); }
  let next = null;
  for (let i = at + 1; i < order.length && !next; i++) next = turns.get(order[i]) ?? null;
  log.insertBefore(e, next);
  turns.set(id, e);
  return e;
}

// whole has a turn be these pieces and no others. Large ones are spread over several frames.
function whole(id, list) {
  const e = turn(id), there = new Set(list.map((c) => c.id));
  for (const p of [...e.children]) if (!there.has(p.id)) { pieces.delete(p.id); p.remove(); }
  let n = 0, bytes = 0;
  while (n < list.length && bytes < 24000) { bytes += list[n].html.length; put(list[n++]); }
  if (n < list.length) queue.unshift(...list.slice(n).map((change) => ({ t: "put", change })));
}

function put(c) {
  const old = document.getElementById(c.id);
  if (!c.html) { old?.remove(); pieces.delete(c.id); return; }
  if (old && pieces.get(c.id) === c.html) return;
  pieces.set(c.id, c.html);
  const now = fragment(c.html).firstElementChild;
  if (!now) return;
  let e = now;
  if (old) e = morph(old, now);
  else {
    const t = turn(c.turn), before = c.after && document.getElementById(c.after);
    if (before && before.parentNode === t) before.after(now);
    else if (c.after) t.append(now);
    else t.prepend(now);
  }
  for (const look of after) look(e);
}

export const count = () => order.length;
