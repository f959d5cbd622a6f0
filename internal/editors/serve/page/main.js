// The page: which session is shown, and what keys and buttons do.
import * as bar from "./bar.js";
import * as composer from "./composer.js";
import * as dialog from "./dialog.js";
import { make } from "./html.js";
import { act, begin, get, known, Stream } from "./net.js";
import * as sessions from "./list.js";
import * as output from "./output.js";
import { answer } from "./questions.js";
import { toEnd, toTop } from "./scroll.js";
import { table } from "./actions.js";
import * as turns from "./turns.js";

const $ = (id) => document.getElementById(id);
let id = "", now = null, menu = null, live = "", visit = 0, beginning = null;
let folders = [], chosen = sessionStorage.getItem("adze-folder") ?? "";
// where is the folder of a new session; the server works in the first, and processes of their own in the others.
const where = () => folders.includes(chosen) ? chosen : folders[0] ?? "";
const away = () => !id && where() !== (folders[0] ?? "");
function placed() {
  $("where").hidden = !!id || folders.length < 2;
  $("where").textContent = "in " + (where().split("/").pop() || where());
  for (const name of ["mode", "model", "effort", "branch"]) $(name).classList.toggle("unseenhere", away());
  if (!id && folders.length > 1) $("folder").textContent = "\u200e" + where().replace(/^\/(home|Users)\/[^/]+/, "~");
}

// tell says something once, to those who hear the page, too.
let fading = 0, standing = "";
function tell(text, shown) {
  $("live").textContent = text;
  if (!shown) return;
  trouble(text);
  clearTimeout(fading);
  fading = setTimeout(() => trouble(standing), 6000);
}
function trouble(text) { $("trouble").textContent = text; $("trouble").hidden = !text; }
// stands shows something until it is over.
function stands(text) { if (text === standing) return; standing = text; clearTimeout(fading); trouble(text); if (text) tell(text); }
const doing = (p) => Promise.resolve(p).catch((e) => tell(e.message, true));
// once does something unless it is being done: a second click sends nothing twice.
const going = new Set();
function once(what, run) {
  if (going.has(what)) return;
  going.add(what);
  doing(Promise.resolve().then(run).finally(() => going.delete(what)));
}

const app = {
  id: () => id, bar: () => now, doing,
  folders: () => folders, folder: () => where(),
  // within has new sessions begin in a folder.
  within(dir) { chosen = dir; sessionStorage.setItem("adze-folder", dir); placed(); sessions.draw(); composer.focus(); },
  tell: (text) => tell(text, true),
  go(to) { location.hash = to ? "#/s/" + to : "#/"; },
  // went follows a session to its new id, where it is still the one that is shown.
  went(to, from) { menu = null; if (to && to !== id && from === id) app.go(to); },
  // ensure begins a session where none is shown: one, also when it is asked for twice. What was
  // written goes with it. A user who went elsewhere meanwhile stays there.
  async ensure() {
    if (id) return id;
    if (beginning?.visit !== visit) beginning = { visit, to: begin() };
    const mine = beginning;
    let to;
    try { to = await mine.to; } catch (e) { if (beginning === mine) beginning = null; throw e; }
    if (mine.visit === visit) { composer.carry(to); app.go(to); show(to); }
    return to;
  },
  async menu() {
    const of = await app.ensure();
    if (menu?.of !== of) menu = { of, is: get(`page/${encodeURIComponent(of)}/menu`) };
    const mine = menu;
    try {
      const got = await mine.is;
      if (!mine.past && of === id) { mine.past = true; composer.addPast(got.past ?? []); }
      return got;
    } catch (e) { if (menu === mine) menu = null; throw e; }
  },
  side() {
    const narrow = matchMedia("(max-width: 56rem)").matches;
    const shown = document.body.classList.toggle(narrow ? "drawer" : "noside") === narrow;
    $("burger").setAttribute("aria-expanded", String(shown));
    if (shown) ($("list").querySelector("[aria-current]") ?? $("list").querySelector("a") ?? $("list")).focus(); else composer.rest();
  },
  // list gives the list of sessions the focus.
  list() {
    const narrow = matchMedia("(max-width: 56rem)").matches;
    if (id && (narrow ? !document.body.classList.contains("drawer") : document.body.classList.contains("noside"))) app.side(); else sessions.enter();
  },
  async notify() {
    const may = await globalThis.Notification?.requestPermission();
    tell(may === "granted" ? "The browser tells you when a session needs you, while one tab of adze is open." : "The browser does not let this page tell you anything.", true);
  },
  theme() {
    const all = ["system", "light", "dark"], root = document.documentElement, to = all[(all.indexOf(root.dataset.theme) + 1) % 3];
    root.dataset.theme = to;
    localStorage.setItem("adze-theme", to);
    $("theme").textContent = "Theme: " + to;
    tell("Theme: " + to);
  },
};
sessions.start({ id: () => id, go: app.go, doing, tell: app.tell, say: (text) => tell(text), drawn: ages, folders: () => folders.length, folder: () => where() });
const actions = table(app), named = new Map(actions.map((a) => [a.name, a]));
$("theme").textContent = "Theme: " + document.documentElement.dataset.theme;

// The stream.
const stream = new Stream({
  where: () => id ? turns.where() : { count: 0, last: "" },
  up() { stands(""); document.body.classList.remove("down"); },
  down(e, tries) {
    if (e.status === 401) return stands(known() && e.message ? "The server refused: " + e.message + "." : "This page has no token: open the address that adze serve printed.");
    if (e.status === 404) return stands("There is no such session here.");
    if (tries > 0) { document.body.classList.add("down"); stands("The server does not answer. The page connects again by itself when adze serve runs."); }
  },
  notes(all) {
    for (const n of all) {
      if (n.t === "list") list(n); else if (n.t === "bar") state(n.bar); else if (n.t === "gone") stands(n.text); else if (n.t === "trouble") tell(n.text, true);
    }
    turns.take(all.filter((n) => n.t === "turns" || n.t === "turn" || n.t === "put"));
  },
});

function list(n) {
  sessions.show(n.html);
  const more = (n.needs ?? 0) > needs;
  title(n.needs ?? 0);
  tabs.postMessage(needs);
  if (more && document.hidden && globalThis.Notification?.permission === "granted") new Notification("adze needs you", { body: needs === 1 ? "A session waits for your answer." : needs + " sessions wait for your answer.", tag: "adze" });
}
let needs = 0;
// A hidden tab hears how many sessions wait from the one that is told.
const tabs = new BroadcastChannel("adze");
tabs.onmessage = (e) => title(e.data);
function title(n = needs) { needs = n; document.title = (n ? `(${n}) ` : "") + (id ? ($("title").textContent + " · adze") : "adze"); }

function state(b) {
  if (b.id !== id) return;
  const before = now?.id === b.id ? now.state : "";
  now = b;
  if (b.folders && b.folders.join("\n") !== folders.join("\n")) { folders = b.folders; sessions.draw(); }
  bar.show(b);
  placed();
  title();
  queue(b);
  if (before && before !== b.state) tell(b.state === "waiting" ? "adze asks you something: Alt+A goes to it" : b.state === "running" ? "adze works" : b.state === "idle" ? "adze has finished" : "");
}

function queue(b) {
  const rows = [...(b.steered ?? []).map((text) => ["read next", text]), ...(b.queue ?? []).map((text) => ["queued", text])];
  if ($("queue").dataset.rows === JSON.stringify(rows)) return; // a finger may be on it
  $("queue").dataset.rows = JSON.stringify(rows);
  $("queue").replaceChildren(...rows.map(([how, text]) => make("li", {}, make("span", { class: "how" }, how), make("span", { class: "text" }, text),
    how === "queued" ? make("button", { type: "button", class: "quiet", "aria-label": "Take this message back", onclick: (e) => once(e.currentTarget, () => act(b.id, "unqueue", { text }).then(() => composer.give({ text, files: [] }, b.id))) }, "✕") : "")));
}

// ages writes how long ago things were.
const relative = new Intl.RelativeTimeFormat("en", { style: "narrow", numeric: "auto" });
function ages() {
  for (const t of document.querySelectorAll("time[datetime]")) {
    const s = (new Date(t.dateTime) - Date.now()) / 1000;
    const text = s > -60 ? "now" : s > -3600 ? relative.format(Math.round(s / 60), "minute") : s > -86400 ? relative.format(Math.round(s / 3600), "hour") : relative.format(Math.round(s / 86400), "day");
    if (t.textContent !== text) t.textContent = text;
  }
}
setInterval(ages, 30000);
setInterval(() => { if (!document.hidden) for (const e of document.querySelectorAll("[data-since]")) { const s = (Date.now() - e.dataset.since) / 1000; if (s >= 1) e.textContent = s < 60 ? Math.floor(s) + " s" : Math.floor(s / 60) + " min " + Math.floor(s % 60) + " s"; } }, 1000);

// Which session is shown.
function show(to) {
  if (to === id && live) return;
  id = to; live = "yes"; now = null; menu = null; visit++;
  document.body.classList.toggle("home", !id);
  document.body.classList.remove("drawer");
  $("burger").setAttribute("aria-expanded", "false");
  $("homelist").hidden = !!id;
  $("latest").hidden = true;
  queue({});
  turns.clear();
  stands("");
  if (!id) { bar.none(); title(); toTop(); } else toEnd();
  placed();
  composer.restore(id);
  composer.forgetPast();
  for (const a of $("list").querySelectorAll("[data-session]")) if (a.dataset.session === id) a.setAttribute("aria-current", "page"); else a.removeAttribute("aria-current");
  if (!dialog.isOpen()) composer.rest();
  stream.follow(id);
}
const route = () => {
  const to = /^#\/s\/(.+)$/.exec(location.hash) ? decodeURIComponent(location.hash.slice(4)) : "";
  if (to !== id && dialog.isOpen()) dialog.close(); // it is about the session that was shown
  show(to);
};
addEventListener("hashchange", route);

// Sending.
async function send(queued) {
  if (!composer.text().trim() && !$("files").children.length) return;
  const out = composer.take();
  let to = id;
  try {
    if (away()) {
      if (out.files.length) throw new Error("Files are not sent to a session of another folder; name their paths instead.");
      const seen = visit, begun = (await act("new", "begin", { text: out.text, folder: where(), once: out.once })).id;
      if (seen === visit) app.go(begun);
      return;
    }
    to = await app.ensure();
    const own = /^!\s*(\S[^]*)$/.exec(out.text);
    if (own && !out.files.length) await act(to, "run", { text: own[1], once: out.once });
    else await act(to, "say", { text: out.text, files: out.files, queue: queued, once: out.once });
    if (to === id) toEnd();
  } catch (e) { tell(composer.give(out, to) ? e.message : "Your message to another session was not sent, and waits there: " + e.message, true); }
}
$("say").addEventListener("submit", (e) => { e.preventDefault(); send(false); });
composer.start({ id: () => id, ensure: app.ensure, trouble: (text) => tell(text, true), async commands() {
  const own = actions.filter((a) => a.slash && (!a.when || a.when())).map((a) => ({ name: "/" + a.name, about: a.title, run: () => doing(a.run()) }));
  if (!id) return own;
  const m = await app.menu().catch(() => ({ commands: [] }));
  return [...own, ...(m.commands ?? []).map((c) => ({ name: "/" + c.Name, about: [c.Args, c.Help].filter(Boolean).join(" — ") }))];
} });
$("words").addEventListener("focus", () => { if (id && now && !menu && now.state !== "elsewhere" && now.mode) app.menu().catch(() => {}); });

// Keys and buttons.
let escaped = 0;
document.addEventListener("keydown", (e) => {
  const typing = /^(TEXTAREA|INPUT|SELECT)$/.test(e.target.nodeName);
  if (e.isComposing) return;
  if (e.target === $("words")) {
    if (composer.keydown(e)) { e.preventDefault(); return; }
    if (e.key === "Enter" && !e.shiftKey && !e.altKey) { e.preventDefault(); send(e.ctrlKey || e.metaKey); return; }
  }
  if (!dialog.isOpen() && sessions.keydown(e)) { e.preventDefault(); return; }
  if (e.key === "Escape" && !dialog.isOpen()) {
    if (document.body.classList.contains("drawer")) { app.side(); return; }
    if (now?.state === "running" || now?.state === "waiting") {
      if (Date.now() - escaped < 1200) { escaped = 0; doing(act(id, "stop")); } else { escaped = Date.now(); tell("Esc once more stops the turn", true); }
    }
    return;
  }
  if (dialog.isOpen()) return;
  if (!typing && !e.ctrlKey && !e.altKey && !e.metaKey) {
    if (e.key === "/") { if (composer.text()) e.preventDefault(); composer.focus(); return; } // into an empty prompt it is typed
    if (e.key === "?") { e.preventDefault(); named.get("keys").run(); return; }
  }
  const a = actions.find((a) => a.code === e.code && (a.ctrl ? (e.ctrlKey || e.metaKey) && !e.altKey : a.key && e.altKey && !e.ctrlKey && !e.metaKey));
  if (a && !e.shiftKey && (!a.when || a.when())) { e.preventDefault(); once(a, a.run); }
});
document.addEventListener("click", (e) => {
  const button = e.target.closest("[data-do], [data-act], [data-row]");
  if (!button && e.target.closest("#side a") && document.body.classList.contains("drawer")) app.side(); // also to the session that is shown
  if (e.target.closest("#skip")) { e.preventDefault(); composer.focus(); return; }
  if (!button || button.closest("dialog")) return;
  if (sessions.pressed(button)) return;
  if (button.dataset.do) { const a = named.get(button.dataset.do); if (a) once(a, a.run); return; }
  once(button, () => pressed(button));
});
async function pressed(button) {
  switch (button.dataset.act) {
    case "copy-code": return copy(button, button.closest(".code").querySelector("code").textContent);
    case "copy-answer": return copy(button, [...button.closest(".turn").querySelectorAll(":scope > .prose")].map((p) => p.innerText).join("\n\n"));
    case "whole-output": return output.whole(id, button);
    default: return named.get(button.dataset.act)?.run();
  }
}
async function copy(button, text) {
  await navigator.clipboard.writeText(text);
  const was = button.textContent;
  tell("Copied");
  if (was === "Copied") return;
  button.textContent = "Copied";
  setTimeout(() => { button.textContent = was; }, 1500);
}
document.addEventListener("submit", (e) => {
  const form = e.target.closest("form.ask");
  if (!form) return;
  e.preventDefault();
  answer(id, form, e.submitter ?? form.querySelector("button.main"));
});
turns.onElement(output.dress);

if (known()) route(); else { bar.none(); $("homelist").hidden = false; stands("This page has no token: open the address that adze serve printed."); }
