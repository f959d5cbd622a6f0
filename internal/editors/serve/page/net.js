// What goes to the server and what comes from it. early.js has put the token where it is kept.
const token = sessionStorage.getItem("adze") ?? "";
export const known = () => token !== "";

export class Refused extends Error { constructor(status, text) { super(text); this.status = status; } }

export async function ask(path, options = {}) {
  const headers = { Authorization: "Bearer " + token, ...(options.body ? { "Content-Type": "application/json" } : {}) };
  const answer = await fetch("/api/" + path, { cache: "no-store", ...options, headers });
  if (!answer.ok) throw new Refused(answer.status, (await answer.text()).trim());
  return answer;
}
export const get = async (path) => (await ask(path)).json();
export const act = async (id, name, body = {}) => (await ask("page/" + encodeURIComponent(id) + "/" + name, { method: "POST", body: JSON.stringify(body) })).json();
export const begin = async () => (await (await ask("session", { method: "POST", body: "{}" })).json()).id;

const sleep = (ms, signal) => new Promise((done) => { const t = setTimeout(done, ms); signal.addEventListener("abort", () => { clearTimeout(t); done(); }, { once: true }); });

// Stream follows the server for as long as the page is seen: a connection that breaks, or says
// nothing for a while, is made anew, at once when the page is looked at again. A browser opens six
// connections to a server and no more, for all its tabs together. So a hidden tab gives its stream
// up; one of them, whichever has the lock, follows the list, for the title and what is told of it.
export class Stream {
  // on: notes(list), up(), down(error); where() is what of the session is there.
  constructor(on) { this.on = on; this.turn = 0; this.wake = () => {}; this.heard = 0; this.hidden = document.hidden; this.lists = false;
    const look = () => {
      if (document.hidden !== this.hidden) this.seen(!document.hidden);
      if (!document.hidden) { if (Date.now() - this.heard > 15000) this.cut?.abort(); this.wake(); }
    };
    addEventListener("online", look); addEventListener("pageshow", look); document.addEventListener("visibilitychange", look);
    setInterval(() => { if (Date.now() - this.heard > 25000) this.cut?.abort(); }, 5000);
    if (this.hidden) this.seen(false);
  }
  // follow follows a session, or the list alone.
  follow(id) { this.id = id; this.anew(); if (!this.running) this.run(); }
  anew() { this.turn++; this.cut?.abort(); this.wake(); }
  // seen gives the stream up, or takes it up again.
  seen(is) {
    this.hidden = !is; this.lists = false;
    this.release?.abort();
    this.anew();
    if (is || !navigator.locks) return;
    const release = this.release = new AbortController();
    navigator.locks.request("adze-hidden", { signal: release.signal }, () => new Promise((done) => {
      release.signal.addEventListener("abort", done);
      if (release.signal.aborted) return done();
      this.lists = true;
      this.anew();
    })).catch(() => {}); // it was seen again before its turn came
  }
  async run() {
    this.running = true;
    for (let tries = 0; ;) {
      if (this.hidden && !this.lists) { await new Promise((done) => (this.wake = done)); continue; }
      const turn = this.turn, cut = (this.cut = new AbortController()), lists = this.hidden;
      try {
        this.heard = Date.now();
        const { count, last } = lists ? { count: 0, last: "" } : this.on.where();
        const answer = await ask(`page/watch?session=${lists ? "" : encodeURIComponent(this.id)}&turns=${count}&last=${last}`, { signal: cut.signal });
        tries = 0;
        this.on.up();
        for await (const notes of lines(answer.body)) {
          if (turn !== this.turn) break;
          this.heard = Date.now();
          this.on.notes(lists ? notes.filter((n) => n.t === "list") : notes);
        }
        if (turn === this.turn) throw new Error("the connection ended");
      } catch (e) {
        if (turn !== this.turn) continue;
        this.on.down(e, tries);
        if (e.status === 401 || e.status === 404) { await new Promise((done) => (this.wake = done)); continue; }
        const waiting = new AbortController();
        this.wake = () => waiting.abort();
        await sleep(Math.min(5000, 300 * 2 ** tries++), waiting.signal);
      }
    }
  }
}

// lines reads the data of an event stream.
async function* lines(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  const got = [];
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    let from = 0;
    for (let at; (at = value.indexOf("\n\n", from)) >= 0; from = at + 2) {
      got.push(value.slice(from, at));
      yield JSON.parse(got.join("").slice(6));
      got.length = 0;
    }
    got.push(value.slice(from));
    if (got.length > 1 && got.at(-1).startsWith("\n") && got.at(-2).endsWith("\n")) { // the two newlines came apart
      const all = got.join("");
      got.length = 0;
      const at = all.indexOf("\n\n");
      yield JSON.parse(all.slice(6, at));
      got.push(all.slice(at + 2));
    }
  }
}
