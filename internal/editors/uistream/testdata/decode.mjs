// Reads every stream of a folder with the decoders of others, and prints what they made of it.
import fs from "node:fs";
import * as ai6 from "ai";
import * as ai7 from "ai7";
import { AssistantMessageAccumulator, UIMessageStreamDecoder } from "assistant-stream";

const bytes = (raw) => new ReadableStream({ start(c) { for (let i = 0; i < raw.length; i += 37) c.enqueue(raw.subarray(i, i + 37)); c.close(); } });

const call = (p) => p.toolName + " " + ({ "output-available": "done", "output-error": "error", "approval-requested": "waits" }[p.state] ?? p.state);

async function byAI(ai, raw) {
  const out = { text: "", calls: "", end: "", failed: "", streamed: new Set() };
  let message;
  const transport = new (class extends ai.DefaultChatTransport { read(s) { return this.processResponseStream(s); } })({ api: "http://127.0.0.1/" });
  try {
    const watched = transport.read(bytes(raw)).pipeThrough(new TransformStream({
      transform(chunk, c) { if (chunk.type === "finish") out.end = chunk.finishReason; c.enqueue(chunk); } }));
    for await (const m of ai.readUIMessageStream({ stream: watched, terminateOnError: true })) {
      message = m;
      for (const p of m.parts) if (p.state === "input-streaming" && p.input !== undefined) out.streamed.add(JSON.stringify(p.input));
    }
  } catch (e) { out.failed = String(e); }
  out.streamed = [...out.streamed];
  out.id = message?.id ?? "";
  out.parts = message?.parts ?? [];
  out.text = out.parts.filter((p) => p.type === "text").map((p) => p.text).join("");
  out.calls = out.parts.filter((p) => p.type === "dynamic-tool").map(call).join(", ");
  return out;
}

async function byAssistant(decoder, raw) {
  const out = { text: "", calls: "", end: "", failed: "" };
  let message;
  try {
    const chunks = bytes(raw).pipeThrough(decoder).pipeThrough(new TransformStream({
      transform(chunk, c) { if (chunk.type === "message-finish") out.end = chunk.finishReason; c.enqueue(chunk); } }));
    for await (const m of chunks.pipeThrough(new AssistantMessageAccumulator())) message = m;
  } catch (e) { out.failed = String(e); }
  const parts = message?.parts ?? [];
  out.text = parts.filter((p) => p.type === "text").map((p) => p.text).join("");
  out.calls = parts.filter((p) => p.type === "tool-call").map((p) => p.toolName + " " + (p.result === undefined ? "open" : p.isError ? "error" : "done")).join(", ");
  return out;
}

const all = {};
for (const file of fs.readdirSync(process.argv[2])) {
  const [name] = file.split(".");
  const raw = fs.readFileSync(process.argv[2] + "/" + file);
  const by = (all[name] ??= {});
  by.ai6 = await byAI(ai6, raw);
  by.ai7 = await byAI(ai7, raw);
  by["assistant-stream"] = await byAssistant(new UIMessageStreamDecoder(), raw);
}
console.log(JSON.stringify(all));
