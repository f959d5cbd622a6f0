// What is always in view: title, what goes on, model, mode, effort, folder, branch, context, cost.
const $ = (id) => document.getElementById(id);
const size = (n) => n < 1000 ? String(n) : n < 1e6 ? (n / 1000).toFixed(n < 1e4 ? 1 : 0) + "k" : (n / 1e6).toFixed(1) + "M";
const text = (id, value) => { if ($(id).textContent !== value) $(id).textContent = value; };

function chip(id, value, wide) {
  $(id).hidden = !value;
  text(id, value ?? "");
  $(id).classList.toggle("wide", !!wide);
}

export const modes = { plan: "Plan only", ask: "Asks first", edits: "Edits freely", auto: "Auto", staged: "Auto, staged", "ask-staged": "Asks, staged", yolo: "Asks nothing" };

export function show(b) {
  const short = (b.model ?? "").split("/").slice(1).join("/") || b.model;
  text("title", b.id ? b.title || "New session" : "Sessions");
  const doing = { running: b.doing || "working", waiting: "waits for your answer", elsewhere: "works in " + (b.who ?? "another process") + "; it is shown here" }[b.state] ?? "";
  text("doing", doing);
  $("doing").classList.toggle("wanted", b.state === "waiting");
  chip("model", short); chip("mode", b.mode ? modes[b.mode] ?? b.mode : "", b.mode === "yolo");
  chip("effort", b.effort);
  if (b.model) $("model").title = "Model: " + b.model + " (Alt+M)";
  $("review").hidden = !b.review;
  $("stop").hidden = b.state !== "running" && b.state !== "waiting";
  text("folder", b.folder ? "\u200e" + b.folder.replace(/^\/(home|Users)\/[^/]+/, "~") : "");
  text("branch", b.branch ? "⎇ " + b.branch : "");
  context(b);
  text("cost", b.cost == null ? "" : "$" + b.cost.toFixed(b.cost < 0.1 ? 3 : 2));
  const words = $("words");
  const room = innerWidth > 640;
  if (!b.id) return;
  words.placeholder = b.state === "running" ? "Say something meanwhile" + (room ? ": it is read before the next step (Ctrl+Enter queues it)" : "") : b.state === "waiting" ? "Answer above, or say something" : "Ask, or say what to do" + (room ? "; / for commands, @ for files" : "");
}

function context(b) {
  const c = $("context");
  if (!b.used) { c.replaceChildren(); return; }
  const says = b.window ? `${size(b.used)} of ${size(b.window)} tokens` : `${size(b.used)} tokens`;
  if (c.firstChild?.data !== says) c.replaceChildren(says);
  if (!b.window) return;
  let m = c.querySelector("meter");
  if (!m) { m = document.createElement("meter"); m.max = 1; m.low = 0.7; m.high = 0.9; m.optimum = 0; m.setAttribute("aria-label", "Context used"); c.append(m); }
  m.value = Math.min(1, b.used / b.window);
  c.title = Math.round(100 * b.used / b.window) + " % of the context is used";
}

export function none() {
  for (const id of ["doing", "cost"]) text(id, "");
  $("context").replaceChildren();
  for (const id of ["review", "stop"]) $(id).hidden = true;
  text("title", "Sessions");
  $("words").placeholder = "What should adze do? It begins a new session";
}
