// The AI SDK's own Chat and transport, on a session of adze serve that begins. What follows is one conversation.
const [, , pkg, address] = process.argv;
const ai = await import(pkg);
const base = address.split("/#")[0], headers = { Authorization: "Bearer " + address.split("#")[1] };

class State {
  constructor(messages) { this.messages = messages; this.status = "ready"; this.error = undefined; }
  pushMessage(m) { this.messages = [...this.messages, m]; }
  popMessage() { this.messages = this.messages.slice(0, -1); }
  replaceMessage(i, m) { this.messages = [...this.messages.slice(0, i), m, ...this.messages.slice(i + 1)]; }
  snapshot(v) { return structuredClone(v); }
}
class Chat extends ai.AbstractChat {
  constructor(init) { super({ ...init, state: new State(init.messages ?? []) }); }
}
const errors = [];
const chat = (id, messages) => new Chat({ id, messages, transport: new ai.DefaultChatTransport({ api: base + "/api/chat", headers }),
  sendAutomaticallyWhen: ai.lastAssistantMessageIsCompleteWithApprovalResponses, onError: (e) => errors.push(String(e)) });
const settled = async (c, is) => { for (let n = 0; n < 6000 && !(c.status !== "streaming" && c.status !== "submitted" && is()); n++) await new Promise((r) => setTimeout(r, 10)); };
const waiting = (c) => c.messages.flatMap((m) => m.parts).filter((p) => p.state === "approval-requested");

const { id } = await (await fetch(base + "/api/session", { method: "POST", headers: { ...headers, "Content-Type": "application/json" }, body: "{}" })).json();
