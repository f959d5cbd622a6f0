// A client of adze mcp serve, made of the official library: it does what its argument says and prints what came, a line each.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { existsSync } from "node:fs";

const wish = JSON.parse(process.argv[2]);
const say = (what) => console.log(JSON.stringify(what));
const modern = wish.era >= "2026-07-28";
const transport = wish.url
  ? new StreamableHTTPClientTransport(new URL(wish.url), { requestInit: { headers: { Authorization: "Bearer " + wish.token } } })
  : new StdioClientTransport({ command: wish.command, args: wish.args, env: wish.env, cwd: wish.cwd, stderr: "inherit" });
const client = new Client(
  { name: wish.name ?? "official", version: "9" },
  { capabilities: wish.answers ? { elicitation: { form: {} } } : {}, ...(modern ? { versionNegotiation: { mode: { pin: wish.era } } } : {}) },
);
const answers = [...(wish.answers ?? [])];
if (wish.answers)
  client.setRequestHandler("elicitation/create", async (r) => {
    const answer = answers.shift() ?? "none left";
    say({ asked: r.params.message, choices: r.params.requestedSchema.properties.answer.enum });
    return answer === "decline" ? { action: "decline" } : { action: "accept", content: { answer } };
  });
await client.connect(transport);
say({ connected: client.getServerVersion()?.name, era: client.getNegotiatedProtocolVersion?.() });
for (const step of wish.steps) {
  const stop = new AbortController();
  const progress = [];
  if (step.until) {
    const look = setInterval(() => {
      if (!existsSync(step.until)) return;
      clearInterval(look);
      if (step.hang) say({ hangs: true });
      else stop.abort("enough");
    }, 20);
  }
  try {
    if (step.list) {
      const { tools } = await client.listTools();
      say({ tools });
    } else {
      const r = await client.callTool({ name: step.call, arguments: step.args }, {
        signal: stop.signal, timeout: 100000, onprogress: (p) => progress.push(p),
      });
      say({ call: step.call, error: r.isError ?? false, content: r.content, status: r._meta?.["adze/status"], progress });
    }
  } catch (e) {
    say({ call: step.call, thrown: String(e.message ?? e) });
  }
}
await client.close();
