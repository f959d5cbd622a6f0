// An editor on the official TypeScript client: it starts adze acp, keeps what is told, and answers by the functions of a test.
import { spawn } from "node:child_process";
import { appendFileSync } from "node:fs";
import { Readable, Writable, Transform } from "node:stream";

const acp = await import(process.env.ADZE_ACP ?? "@agentclientprotocol/sdk");

export const argv = JSON.parse(process.env.ADZE_ARGV);
export const folder = process.env.ADZE_FOLDER;
export const say = (name, value) => console.log(JSON.stringify({ name, value }));

// tap writes down each line that passes, for the schema.
const tap = (from) => new Transform({ transform(data, _, next) { appendFileSync(process.env.ADZE_WIRE, from + "\0" + data.toString("base64") + "\n"); next(null, data); } });

export function connect(o = {}) {
  const child = spawn(argv[0], [...argv.slice(1), ...(o.args ?? [])], { cwd: folder, stdio: ["pipe", "pipe", "inherit"] });
  const inbound = tap("adze"), outbound = tap("editor");
  child.stdout.pipe(inbound);
  outbound.pipe(child.stdin);
  const updates = [], asked = [], waiting = [];
  const see = (n) => { updates.push(n); for (const w of [...waiting]) if (w.test(n)) { waiting.splice(waiting.indexOf(w), 1); w.done(n); } };
  const app = acp.client({ name: "test" })
    .onNotification("session/update", ({ params }) => see(params))
    .onRequest("session/request_permission", async ({ params }) => {
      asked.push(params);
      const answer = await o.permit?.(params);
      if (!answer) return { outcome: { outcome: "cancelled" } };
      return typeof answer === "string" ? { outcome: { outcome: "selected", optionId: answer } } : answer;
    })
    .onRequest("fs/read_text_file", ({ params }) => o.read(params))
    .onRequest("fs/write_text_file", ({ params }) => o.write(params))
    .onRequest("terminal/create", ({ params }) => o.terminal.create(params))
    .onRequest("terminal/output", ({ params }) => o.terminal.output(params))
    .onRequest("terminal/wait_for_exit", ({ params }) => o.terminal.wait(params))
    .onRequest("terminal/kill", ({ params }) => o.terminal.kill(params))
    .onRequest("terminal/release", ({ params }) => o.terminal.release(params))
    .onRequest("elicitation/create", ({ params }) => o.elicit(params));
  const conn = app.connect(acp.ndJsonStream(Writable.toWeb(outbound), Readable.toWeb(inbound)));
  const e = {
    child, updates, asked,
    request: (method, params) => conn.agent.request(method, params),
    notify: (method, params) => conn.agent.notify(method, params),
    fails: (method, params) => conn.agent.request(method, params).then((r) => { throw new Error(method + " did not fail: " + JSON.stringify(r)); }, (err) => err),
    init: (clientCapabilities = {}) => e.request("initialize", { protocolVersion: acp.PROTOCOL_VERSION, clientCapabilities }),
    open: async (cwd = folder) => (await e.request("session/new", { cwd, mcpServers: [] })),
    prompt: (sessionId, text, ...more) => e.request("session/prompt", { sessionId, prompt: [...(text ? [{ type: "text", text }] : []), ...more] }),
    // when resolves with the first update, also of those that came before, that fits.
    when: (test) => { const had = updates.find(test); return had ? Promise.resolve(had) : new Promise((done) => waiting.push({ test, done })); },
    leave: () => new Promise((done) => { child.on("exit", done); child.stdin.end(); }),
  };
  return e;
}

// story is what an editor shows of a session in the end: texts joined, calls as last told.
export function story(updates, sessionId) {
  const out = [], calls = new Map();
  let plan;
  for (const { sessionId: id, update: u } of updates) {
    if (id !== sessionId || u._meta?.adze?.notice) continue;
    const kind = u.sessionUpdate;
    if (kind.endsWith("_chunk")) {
      const last = out.at(-1);
      if (u.content.type === "text" && last?.kind === kind && last.message === u.messageId && typeof last.text === "string") last.text += u.content.text;
      else out.push({ kind, message: u.messageId, ...(u.content.type === "text" ? { text: u.content.text } : { content: u.content }) });
    } else if (kind === "tool_call") {
      const call = { ...u };
      calls.set(u.toolCallId, call);
      out.push(call);
    } else if (kind === "tool_call_update") {
      const call = calls.get(u.toolCallId);
      if (!call) throw new Error("an update of a call that was never told: " + u.toolCallId);
      for (const [k, v] of Object.entries(u)) if (k !== "sessionUpdate" && v != null) call[k] = v;
    } else if (kind === "plan") plan = u.entries;
  }
  return { out, plan };
}
