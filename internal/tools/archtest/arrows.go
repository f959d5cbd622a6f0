package archtest

import (
	"path"
	"slices"
	"strconv"
	"strings"
)

// A Row lists a package's allowed imports and importers.
type Row struct {
	// Package is a path in the module; a last element * matches any folder.
	Package string
	// May lists our packages that it may import; "*" means all, a last element * any folder.
	May []string
	// Tests lists additional imports for its tests.
	Tests []string
	// Never lists forbidden standard packages; a last element * covers a tree.
	Never []string
	// From, if set, lists the only importers.
	From []string
	// Anybody may import it.
	Anybody bool
	// Room applies the row also to imports within its own tree, which are otherwise free.
	Room bool
	Why  string
}

// Table is the architecture. A package missing in it that lies under internal is a leaf helper
// without imports from the module. Arrows point inwards: adapters know ports, ports know nobody.
func Table() []Row {
	return append(slices.Concat(centre(), terminal(), program(), providers(), rooms()), []Row{
		{Package: "session", May: []string{"tool", "internal/text/jsontext"}, Why: "the conversation knows tools, its own ports, and how a long text is written"},
		{Package: "prompts", Why: "embedded texts"},
		{Package: "docs", Why: "embedded pages"},
		{Package: "toolset", May: []string{"tool", "internal/files/workspace", "internal/files/search", "internal/sandbox/proc",
			"internal/web", "internal/web/websearch", "internal/files/diff", "internal/text", "internal/files/textedit", "internal/files/git", "internal/text/jsonc", "internal/text/redact",
			"internal/files/notebook", "internal/files/imagescale", "internal/editors/lsp", "internal/files/formatter"}, Why: "tools act through leaf helpers"},
		{Package: "session/api", Room: true, May: []string{"session", "tool"}, Never: outside(), Why: "functions and plain values"},
		{Package: "internal/stream/ask", Room: true, May: []string{"tool"}, Never: effects(), Why: "questions and answers are values; who asks and who shows them, it does not know"},
		{Package: "internal/stream", Room: true, May: []string{"internal/text/jsontext", "session", "tool", "internal/text/safeterm", "internal/text/redact", "internal/text/usage"}, Why: "an observer of one event stream"},
		{Package: "internal/live", May: []string{"internal/stream", "internal/live/control", "internal/text/jsontext", "internal/text/lineread", "internal/text/redact", "internal/text/usage", "session", "tool"},
			Why: "it shows a session to other processes and hears them; how a prompt is worked on, the program says"},
		{Package: "internal/live/control", May: []string{"session", "internal/text/usage"},
			Why: "what can be asked of a session that is open; it knows neither how that comes nor where the session is shown"},
		{Package: "internal/stream/lineprotocol", Room: true, May: []string{"internal/files/attachments", "internal/text/jsontext", "internal/text/lineread", "internal/text/usage", "session", "internal/stream", "internal/stream/ask", "tool"}, Why: "it puts the questions of a session to a program, and knows neither the wiring nor who decides"},

		{Package: "internal/sessiondb", May: []string{"session", "tool"}, Why: "adapters depend inwards"},
		{Package: "internal/sessiondb/buffered", May: []string{"session", "internal/sessiondb"}, Why: "a decorator of a store"},
		{Package: "internal/project/agents", May: []string{"session", "tool", "toolset", "internal/project/discovery"}, Why: "it turns a call of the task tool into a session, of an agent that is built in or that a file describes"},
		{Package: "internal/sessiondb/audit", May: []string{"session", "tool"}, Why: "it reads what the session wrote, wherever that is kept"},

		{Package: "internal/llm/models", May: []string{"session", "tool", "internal/llm/*", "internal/config", "internal/llm/catalog", "internal/text/usage"}, Why: "which model a run uses knows adapters and the configuration, and neither flags nor the interface"},
		{Package: "internal/sessiondb/masking", May: []string{"session", "tool", "internal/text/redact"}, Why: "what the log keeps, without secrets, wherever it is kept"},
		{Package: "internal/sessiondb/outputs", May: []string{"tool", "internal/text/redact"}, Why: "a whole output has the name of its call"},

		{Package: "internal/project/plan", May: []string{"session", "tool", "toolset", "internal/files/diff", "internal/policy"}, Tests: []string{"internal/sessiondb"}, Why: "a plan meets the conversation, its tool and the mode that goes on"},
		{Package: "internal/policy", May: []string{"tool", "internal/text/redact", "internal/files/workspace"}, Tests: []string{"internal/sandbox/proc", "internal/sandbox"},
			Never: []string{"mvdan.cc/sh/*"}, Why: "the gate judges resolved paths, and commands as script has read them: once"},
		{Package: "internal/policy/script", Why: "it reads bash, and knows neither rules nor modes"},
		{Package: "internal/policy/programs", Room: true, May: []string{"internal/policy/script"}, Never: effects(), Why: "a table of programs; it knows words, and neither files nor rules"},
		{Package: "internal/policy/script", Room: true, Never: effects(), Why: "it reads and writes shell text; which programs may run, it does not know"},
		{Package: "internal/project/discovery", May: []string{"internal/files/workspace", "internal/text"}, Why: "it finds and reads files through the workspace; what they mean, others know"},
		{Package: "internal/project/trust", May: []string{"tool", "internal/files/workspace", "internal/project/discovery", "internal/project/hooks/dialect", "internal/text/jsonc"}, Why: "consent is about files in the workspace, in the places where things are carried, and shows what hooks of others mean here"},
		{Package: "internal/project/hooks", May: []string{"session", "tool", "internal/text/jsonc", "internal/sandbox/proc"}, Why: "it starts programs for moments of a session and knows neither the wiring nor who allowed them"},
		{Package: "internal/project/hooks/dialect", Room: true, May: []string{"session"}, Never: effects(), Why: "it reads and writes texts; it opens nothing and starts nothing"},
		{Package: "internal/sandbox", May: []string{"internal/sandbox/overlay", "internal/sandbox/overlay/apply", "internal/sandbox/overlay/entry", "tool", "internal/sandbox/proc", "internal/sandbox/proxy", "internal/text/redact"}, Why: "a sandbox wraps processes, and gives them copies of settings without what is secret in them"},

		{Package: "internal/files/textedit", May: []string{"internal/text", "internal/files/diff"}, Why: "edits keep the format that text found and show what changed"},
		{Package: "internal/config", May: []string{"internal/text/jsonc", "tool/fuzzy"}, Why: "a file that a person writes"},
		{Package: "internal/config/keyring", Why: "keys in a file or the system's ring; it knows nobody who uses them"},
		{Package: "internal/sandbox/proc", May: []string{"internal/text/redact"}, Why: "it keeps secrets out of the environment of commands, and records of those that run"},
		{Package: "internal/sandbox/child", Room: true, May: []string{"internal/sandbox/proc"}, Why: "a program and its life; it knows no protocol"},
		{Package: "internal/files/git", May: []string{"internal/sandbox/proc"}, Why: "git is a supervised process"},
		{Package: "internal/files/attachments", May: []string{"tool"}, From: []string{"internal/editors/acp", "internal/editors/serve", "internal/stream/lineprotocol", "internal/run/hostio"}, Why: "bytes that came with a prompt; who sent them it does not know"},
		{Package: "internal/text/braces", Anybody: true, Never: outside(), Why: "what the braces of a pattern stand for; it knows nothing else"},
		{Package: "internal/osfile/*", Room: true, Anybody: true, Why: "files as the system has them: replaced at once, locked, of one owner; it knows nothing that stands in them"},
		{Package: "internal/text/markdown", Room: true, Anybody: true, Never: outside(), Why: "a text as blocks and spans; how they are shown, it does not know"},
		{Package: "internal/text/highlight", Room: true, Anybody: true, Never: outside(), Why: "words of a language; in which colours, it does not know"},
		{Package: "internal/text/hypertext", Room: true, May: []string{"tool", "internal/text/safeterm"}, Never: outside(), Why: "what a tool shows, as HTML"},
		{Package: "internal/text/fold", Anybody: true, Never: outside(), Why: "how repetitive text is shortened; it knows nothing else"},
		{Package: "internal/text/kern", Anybody: true, Never: outside(), Why: "places in a text by vector instructions; it knows nothing else"},
		{Package: "internal/text/jsontext", Anybody: true, Never: outside(), Why: "how JSON is written; it knows nothing else"},
		{Package: "internal/text/plural", Anybody: true, Never: outside(), Why: "how English counts; it knows nothing else"},
		{Package: "internal/testkit/*", May: []string{"session", "tool", "internal/llm/wire", "internal/files/workspace", "internal/testkit/effort"}, From: []string{}, Why: "for tests only"},
		{Package: "internal/tools/archtest", From: []string{}, Why: "for its own test only"},
	}...)
}

// terminal is the interface. Only the program imports it; shared code lies beside the session or
// among the texts.
func terminal() []Row {
	rows := []Row{
		{Package: "tui", May: []string{"session", "internal/stream/ask", "tool", "internal/text/safeterm"}, Tests: []string{"internal/files/diff"}, Why: "an observer of one event stream"},
		{Package: "tui/ui", Room: true, May: []string{"tool", "internal/text/safeterm", "tui/draw"}, Never: outside(),
			Why: "what rooms share to show themselves alike knows none of them"},
		{Package: "tui/edit", Room: true, May: []string{"internal/text/safeterm", "tui/draw", "tui/ui"}, Never: outside(), Why: "a text with a cursor knows no pane"},
		{Package: "tui/vim", Room: true, May: []string{"tui/draw", "tui/edit"}, Tests: []string{"internal/text/safeterm"}, Never: outside(), Why: "keys over a text, nothing else"},
		{Package: "tui/prompt", Room: true, May: []string{"session", "internal/text/safeterm", "tui/draw", "tui/ui", "tui/edit", "tui/vim", "tui/list", "session/api"},
			Never: outside(), Why: "the line takes keys and returns what happened; it knows no model and asks nobody"},
		{Package: "tui/transcript", Room: true, May: []string{"session", "tool", "internal/text/safeterm", "tui/draw", "tui/ui"}, Never: outside(),
			Why: "a pane takes events and draws itself"},
		{Package: "tui/pane", Room: true, May: []string{"session", "tool", "internal/text/safeterm", "tui/draw", "tui/ui", "tui/edit"}, Never: outside(),
			Why: "a pane takes events and draws itself"},
		{Package: "tui/permission", Room: true, May: []string{"tool", "internal/text/safeterm", "internal/stream/ask", "tui/draw", "tui/ui", "tui/edit"}, Never: outside(),
			Why: "the dialog shows a question and keeps the answer; it decides nothing"},
		{Package: "tui/question", Room: true, May: []string{"internal/text/safeterm", "internal/stream/ask", "tui/draw", "tui/ui", "tui/edit"}, Never: outside(),
			Why: "the dialog shows a question of the model and keeps the answer; it knows no tool"},
		{Package: "tui/tty", Room: true, May: []string{"tui/input", "tui/screen"}, From: []string{"tui", "tui/overview"}, Why: "a terminal; it knows nothing that is shown"},
		{Package: "tui/overview", Room: true, May: []string{"internal/text/safeterm", "internal/text/plural", "tui/draw", "tui/edit", "tui/screen", "tui/tty", "tui/ui"}, Tests: []string{"internal/testkit/golden"}, Why: "rows of sessions; what they are, its port says"},
		{Package: "tui/list", Room: true, May: []string{"tui/async", "internal/text/safeterm", "tui/draw", "tui/ui", "tui/edit"}, Why: "a list knows rows, not what they stand for"},
		{Package: "tui/firstrun", Room: true, May: []string{"tui/async", "internal/text/safeterm", "tui/draw", "tui/edit", "tui/ui", "session/api"}, Why: "a screen that tells and marks"},
		{Package: "tui/plain", Room: true, May: []string{"session", "internal/stream/ask", "internal/text/lineread", "internal/text/safeterm", "tui/draw", "tui/list", "tui/pane", "tui/permission", "tui/question", "tui/transcript"},
			Why: "the same panes by lines; the root only through its port"},
	}
	for i := range rows {
		if rows[i].From == nil {
			rows[i].From = []string{"tui", "tui/*", "internal/run", "internal/run/*"}
		}
	}
	return rows
}

func program() []Row {
	return []Row{
		{Package: ".", May: []string{"internal/run"}, Why: "main only starts the app"},
		{Package: "internal/run", May: []string{"*"}, From: []string{".", "internal/tools/bench/floor", "internal/tools/release"}, Why: "the wiring sees all and is seen by main alone; a program to measure against links it, and one documents its commands"},
		{Package: "internal/tools/release", May: []string{"internal/run"}, From: []string{}, Why: "it makes releases, with pages of all commands"},
		{Package: "internal/tools/bench/floor", May: []string{"session", "internal/run", "internal/sessiondb"}, From: []string{}, Why: "a program of its own, to be measured against: alone, or with all that adze is"},
		{Package: "internal/tools/bench", Tests: []string{"internal/run", "session", "tool"}, Why: "it measures the program, with logs that it writes"},
		{Package: "internal/cmd", May: commands(), Tests: []string{"internal/run", "internal/testkit/nodetest"}, From: []string{"internal/run", "internal/run/*", "internal/cmd/*"},
			Why: "a command looks and tells; it asks the program through its own port, and wires nothing"},
		{Package: "internal/cmd/*", May: append(commands(), "internal/cmd"), From: []string{"internal/run", "internal/run/*", "internal/cmd", "internal/cmd/*"}, Why: "the commands of one subject"},
		{Package: "internal/cmd/doctor", May: []string{"session", "toolset", "internal/llm/*", "internal/llm/catalog", "internal/config", "internal/llm/models", "internal/config/paths", "internal/sandbox/proc", "internal/undo/recorder", "internal/undo", "internal/sandbox", "internal/sessiondb"},
			Why: "it looks at what a run needs; it knows neither flags nor how its findings are shown"},
	}
}

func commands() []string {
	return []string{"docs", "session", "tool", "tool/rank", "internal/sessiondb/audit", "internal/fleet/batch", "internal/undo/blame", "internal/project/discovery", "internal/config", "internal/llm/models", "internal/cmd/doctor", "internal/sessiondb/export", "internal/fleet", "internal/live", "internal/sessiondb/retention", "internal/policy/policyconfig", "internal/project/instructions", "internal/config/keyring",
		"internal/llm/login", "internal/stream", "internal/mcp", "internal/llm/toolselect", "internal/config/paths", "internal/policy", "internal/sandbox/proc", "internal/undo/recorder", "internal/sessiondb/fulltext", "internal/sessiondb/lookup", "internal/text/safeterm", "internal/text/redact", "internal/cmd/signals", "internal/sessiondb", "internal/project/trust", "internal/text/usage", "internal/project/worktree",
		"internal/mcp/oauth", "internal/mcp/dial", "internal/mcp/clients"}
}

// rooms are independent parts of a run at the top.
func rooms() []Row {
	return []Row{
		{Package: "internal/files/workspace/buffers", Room: true, May: []string{"internal/files/workspace"}, Why: "a way to files through an editor; the root is where its port stands"},
		{Package: "internal/editors/acp", May: []string{"internal/stream", "internal/files/attachments", "internal/text/jsontext", "internal/text/lineread", "internal/files/diff", "internal/text/redact", "session", "tool"}, Why: "an observer of one event stream that asks the questions of the interface in an editor; it knows neither the wiring nor who decides; its tests compare what it makes of diffs"},
		{Package: "internal/undo/recorder", May: []string{"session", "tool", "internal/files/diff", "internal/files/git", "internal/undo", "internal/sandbox/proc"}, Tests: []string{"internal/sessiondb"}, Why: "it ties the log of a session to states of files; it starts no run and shows nothing"},
		{Package: "internal/undo", May: []string{"internal/undo/pack", "internal/files/search/ignore"}, Why: "states of a folder: it knows contents, ignore rules and the disk, and neither calls nor sessions"},
		{Package: "internal/sandbox/overlay", Room: true, May: []string{"internal/sandbox/overlay/apply", "internal/sandbox/overlay/entry", "internal/sandbox/proc/shim/seccomptrace"}, Why: "changes of folders; it knows no command and no git"},
		{Package: "internal/sandbox/overlay/apply", Room: true, May: []string{"internal/sandbox/overlay/entry"}, Why: "steps below a journal; it knows no view"},
		{Package: "internal/sandbox/overlay/entry", Room: true, May: []string{"internal/sandbox/proc/shim/seccomptrace"}, Why: "files and folders by descriptors; it knows no step"},
		{Package: "internal/run/gctuning", From: []string{"internal/run", "internal/run/process"}, Why: "it is the process's; only who is the process sets it"},
		{Package: "internal/undo/pack", Room: true, Why: "contents by their hash; it knows no folder"},
		{Package: "internal/files/fsnotify", Anybody: true, Why: "wakes who waits for a change of files; it knows no state"},
		{Package: "internal/files/formatter", May: []string{"internal/sandbox/proc"}, Why: "a program rewrites a text; it knows neither files nor who allowed it"},
		{Package: "internal/editors/lsp", May: []string{"internal/sandbox/child", "internal/sandbox/proc"}, Tests: []string{"internal/testkit/nodetest"}, Why: "it speaks with servers about files; it knows neither tools nor who allowed the servers"},
		{Package: "internal/mcp/dial", Room: true, May: []string{"internal/mcp", "internal/mcp/oauth", "internal/mcp/remote"}, Tests: []string{"internal/testkit/nodetest", "internal/sandbox/proc", "internal/web"}, Why: "a wire with a login; it starts nothing and asks nobody"},
		{Package: "internal/mcp/consent", Room: true, May: []string{"internal/mcp", "internal/mcp/wire", "internal/mcp/oauth", "tool/schema"}, Why: "questions of servers to a person, through a function; it knows neither the interface nor a run"},
		{Package: "internal/mcp/serve", Room: true, May: []string{"internal/text/lineread", "internal/policy", "internal/text/safeterm", "internal/text/usage", "tool"}, Why: "it speaks with clients and puts questions to them; it runs nothing and knows no session"},
		{Package: "internal/mcp/share", Room: true, May: []string{"internal/mcp", "session", "tool"}, Tests: []string{"internal/mcp/dial", "internal/testkit/mcptest", "internal/mcp/oauth", "internal/mcp/remote", "internal/testkit/nodetest"}, Why: "resources and prompts of a pool; it starts nothing but through the pool"},
		{Package: "internal/mcp/remote", Room: true, May: []string{"internal/mcp/wire", "internal/web"}, Why: "connections to servers elsewhere; it knows addresses and bounds, and neither tools nor logins"},
		{Package: "internal/mcp/clients", Room: true, May: []string{"internal/text/jsonc", "internal/mcp"}, Why: "it reads files of other assistants; who writes them down here is not its own"},
		{Package: "internal/mcp/wire", Room: true, Why: "messages of a server, changed for the library; it knows no connection"},
		{Package: "internal/mcp", May: []string{"internal/text/lineread", "internal/mcp/wire", "tool", "tool/schema", "internal/sandbox/child", "internal/sandbox/proc"}, Tests: []string{"internal/testkit/nodetest", "tool/rank"}, Why: "it speaks with servers and makes tools of what they offer; it knows neither the run nor who allowed them"},
		{Package: "internal/mcp/oauth", Room: true, May: []string{"internal/mcp/remote", "internal/config/keyring"}, Why: "logins and what they bring; it knows no session and asks a person only through its desk"},
		{Package: "internal/run/hostio", May: []string{"internal/config", "internal/files/attachments", "internal/files/git", "internal/files/diff", "internal/files/workspace", "internal/undo", "internal/undo/recorder", "session", "tool", "tui/input", "internal/sandbox/proc", "internal/sessiondb/fulltext", "internal/files/imagescale", "internal/files/search", "internal/text/redact", "internal/policy", "internal/text/safeterm", "internal/text/usage", "internal/text/lineread"},
			Why: "it does things for the person and knows neither the interface nor a run"},
		{Package: "internal/sessiondb/export", May: []string{"session", "tool", "internal/text/redact", "internal/text/safeterm", "internal/text/hypertext"}, Never: effects(),
			Why: "entries become texts and back; it opens and starts nothing"},
		{Package: "internal/undo/blame", May: []string{"session", "tool", "internal/files/diff"}, Never: effects(), Why: "it reads logs; files and stores are read by who asks"},
		{Package: "internal/run/process", May: []string{"*"}, From: []string{"internal/run", "internal/run/*"}, Why: "what there is before a run; it knows neither flags nor runs"},
		{Package: "internal/run/settings", May: []string{"*"}, From: []string{"internal/run", "internal/run/*"}, Why: "the first stage of a run; it knows none after it"},
		{Package: "internal/run/guard", May: []string{"*"}, From: []string{"internal/run", "internal/run/*"}, Why: "a part of a run; it knows no session that runs"},
		{Package: "internal/run/servers", May: []string{"*"}, From: []string{"internal/run", "internal/run/*"}, Why: "a part of a run"},
		{Package: "internal/run/conversation", May: []string{"*"}, From: []string{"internal/run"}, Why: "the second and the third stage of a run: parts, then the session; who shows it is not its concern"},
		{Package: "internal/run/flags", May: []string{"*"}, From: []string{"internal/run", "internal/run/*"}, Why: "values; what a run is asked for"},
		{Package: "internal/run/outputschema", May: []string{"session", "tool", "tool/laxjson", "internal/text/usage"}, Why: "it judges a text by a schema and asks nobody"},
		{Package: "internal/llm/credentials", May: []string{"internal/config", "internal/config/keyring", "internal/llm/models", "internal/text/redact", "internal/text/usage", "tool"},
			Why: "which variables hold keys is told by the configuration and the table of providers"},
		{Package: "internal/llm/login", May: []string{"session", "internal/config/keyring", "internal/llm/models", "internal/text/usage"}, Tests: []string{"internal/config"}, Why: "it checks a key and keeps it; it asks nobody for one"},
		{Package: "internal/fleet/batch", May: []string{"internal/text/lineread", "session", "tool", "internal/sandbox/proc"}, Why: "it runs this program on clones, and reads what it prints; it knows neither flags nor what is shown"},
		{Package: "internal/project/worktree", May: []string{"internal/files/git", "internal/text/usage"}, Why: "it makes work trees through git and remembers them; it knows no session"},
		{Package: "internal/fleet", Room: true, May: []string{"session", "internal/fleet/batch"}, Tests: []string{"internal/testkit/natstest"},
			Why: "a batch on many machines by one server; it knows no flags and nothing that is shown"},
		{Package: "internal/telemetry", May: []string{"session", "tool", "internal/sessiondb/audit"}, Why: "an observer of one event stream, for operators; it knows neither the wiring nor what is shown"},
		{Package: "internal/telemetry/trace", Room: true, Why: "spans and a collector; it knows no session"},
		{Package: "internal/testkit/natstest", Room: true, Why: "a program as tests need it"},
		{Package: "internal/testkit/effort", Room: true, From: []string{"internal/testkit/nodetest"}, Why: "for tests only"},
		{Package: "internal/sessiondb/claims", May: []string{"session", "tool"}, Why: "it compares an answer with the calls of its turn; it opens nothing"},
		{Package: "internal/policy/policyconfig", May: []string{"internal/config", "internal/files/git", "internal/config/paths", "internal/policy", "internal/sandbox/proc", "internal/text/redact", "internal/text/usage", "internal/files/workspace"}, Tests: []string{"tool"},
			Why: "it makes a policy of what a person wrote; it knows no run"},
		{Package: "internal/sessiondb/lookup", May: []string{"session", "internal/sessiondb", "internal/text/usage"}, Why: "it looks through stored sessions and starts none"},
		{Package: "internal/sessiondb/retention", May: []string{"session", "internal/sessiondb/lookup", "internal/sessiondb"},
			Why: "it lets go what others keep, and knows neither flags nor the configuration"},
		{Package: "internal/sessiondb/fulltext", May: []string{"session", "tool", "internal/sessiondb"}, Why: "it reads logs and keeps their words; it knows no run"},
		{Package: "internal/editors/serve", May: []string{"internal/stream", "internal/live", "internal/live/control", "internal/text/usage", "session", "tool", "internal/files/attachments", "internal/text/jsontext", "internal/text/redact", "internal/editors/uistream", "internal/editors/htmlstream", "internal/text/hypertext"}, Tests: []string{"internal/testkit/nodetest"}, From: []string{"internal/run"}, Why: "it puts sessions behind HTTP; how one is opened and where it is kept, it asks the program"},
		{Package: "internal/editors/htmlstream", May: []string{"session", "tool", "internal/text/redact", "internal/text/hypertext"}, From: []string{"internal/editors/serve"}, Never: effects(),
			Why: "events become pieces of a page; it opens, asks and sends nothing"},
		{Package: "internal/editors/uistream", May: []string{"session", "tool", "internal/text/redact"}, Tests: []string{"internal/testkit/nodetest"}, Never: effects(),
			Why: "events become parts of a protocol; it opens, asks and sends nothing"},
		{Package: "internal/cmd/stdio", May: []string{"internal/text/usage", "internal/text"}, Tests: []string{"session"}, Why: "what the process was started with"},
		{Package: "internal/cmd/signals", May: []string{"session"}, Why: "a signal ends a run with a cause"},
		{Package: "internal/run/modelpicker", May: []string{"tui/firstrun", "session/api", "internal/llm/local", "internal/llm/models", "internal/cmd/doctor"}, Tests: []string{"internal/config"},
			Why: "it tells what was found; it asks through the finder and shows nothing itself"},
		{Package: "internal/llm/toolselect", May: []string{"session", "tool", "toolset"},
			Why: "it chooses among tools by what was measured; it opens nothing"},
		{Package: "internal/project/skills", May: []string{"session", "tool", "tool/rank", "toolset", "prompts", "internal/project/discovery"}, Why: "texts that are carried become an index and notes"},
		{Package: "internal/project/commands", May: []string{"session", "prompts", "tool", "toolset", "internal/project/discovery", "internal/project/skills", "internal/project/trust", "internal/policy/programs", "internal/policy/script", "internal/text/usage"},
			Why: "it makes a prompt of a file that is carried; it runs what it needs through the port that the session hands it"},
		{Package: "internal/project/instructions", May: []string{"prompts", "tool", "session", "internal/text/usage", "internal/text/safeterm", "internal/files/workspace", "internal/project/discovery", "internal/text/redact", "internal/text"}, Why: "files of a project and a person become text for the model, at the start and as notes of a session"},
	}
}

// effects must not be used by the center, which reaches them through fields.
func effects() []string {
	return []string{"os", "os/*", "net", "net/http", "net/netip", "log", "log/*", "syscall"}
}

// outside must not be used by a pane: the event loop, the disk, other programs, the network.
func outside() []string {
	return []string{"charm.land/bubbletea/*", "os", "os/*", "net", "net/*"}
}

// forTests may be imported by every test: fakes and cases instead of mocks.
func forTests() []string {
	return []string{"internal/testkit/golden", "internal/testkit/effort", "internal/testkit/failfs", "internal/testkit/proxytest", "internal/testkit/lsptest", "internal/testkit/mcptest", "internal/testkit/llmtest", "internal/llm/script", "internal/sessiondb", "internal/testkit/natstest", "internal/testkit/posix", "internal/testkit/browsertest", "internal/testkit/nodetest"}
}

func (c *checker) arrows(p *pkg) {
	row, known := c.row(p.path)
	if !known && !strings.HasPrefix(p.path, "internal/") && !c.within(p.path) {
		c.report(p.path, "put it under internal", "the top level of the module is fixed")
		return
	}
	for _, f := range p.files {
		for _, spec := range f.ast.Imports {
			target, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				continue
			}
			where := c.module.at(spec)
			if ours, ok := c.ours(target); ok {
				c.arrow(where, p.path, ours, row, f.test)
			} else if !f.test && slices.ContainsFunc(row.Never, func(n string) bool { return matches(n, target) }) {
				c.report(where, "take it as a field or an argument", "%s imports %s: %s", p.path, target, row.Why)
			}
		}
	}
}

func (c *checker) arrow(where, from, to string, row Row, test bool) {
	if from == to || sameTree(from, to) && !row.Room {
		return
	}
	target, _ := c.row(to)
	if target.From != nil && !test && !slices.ContainsFunc(target.From, func(f string) bool { return matches(f, from) }) {
		c.report(where, "invert the arrow: declare what you need as a port of your own",
			"%s imports %s, which may be imported only by %v: %s", from, to, target.From, target.Why)
		return
	}
	if target.Anybody {
		return
	}
	may := row.May
	if test {
		may = slices.Concat(may, row.Tests, forTests())
	}
	if slices.Contains(may, "*") || slices.ContainsFunc(may, func(m string) bool { return matches(m, to) || sameTree(m, to) && !sameTree(from, to) }) {
		return
	}
	why := row.Why
	if why == "" {
		why = "leaf helpers import nothing of ours"
	}
	c.report(where, "declare a port where it is needed and let internal/run wire it, or argue a new row in the table",
		"%s may not import %s: %s; it may import %s", from, to, why, allowed(may))
}

func allowed(may []string) string {
	if len(may) == 0 {
		return "nothing of ours"
	}
	return strings.Join(may, ", ")
}

// row finds the most specific row for a package.
func (c *checker) row(p string) (Row, bool) {
	var wide Row
	found := false
	for _, r := range c.rules.Table {
		if r.Package == p {
			return r, true
		}
		if matches(r.Package, p) {
			wide, found = r, true
		}
	}
	if top := tree(p); !found && top != p {
		return c.row(top)
	}
	return wide, found
}

// within reports whether a package lies in the folder of one in the table.
func (c *checker) within(p string) bool {
	_, ok := c.row(tree(p))
	return ok
}

func (c *checker) ours(target string) (string, bool) {
	if target == c.module.name {
		return ".", true
	}
	return strings.CutPrefix(target, c.module.name+"/")
}

// shared lists the folders below internal whose packages are unrelated: they group packages for
// readers, without meaning for imports.
func shared() []string {
	return []string{"cmd", "config", "editors", "files", "fleet", "llm", "osfile", "project", "run", "sandbox", "sessiondb",
		"testkit", "text", "tools", "undo", "web"}
}

// tree returns a package's own folder: internal/files/search for internal/files/search/match.
func tree(p string) string {
	steps := strings.Split(p, "/")
	depth := 1
	if steps[0] == "internal" {
		depth = 2
		if len(steps) > 2 && slices.Contains(shared(), steps[1]) {
			depth = 3
		}
	}
	return strings.Join(steps[:min(depth, len(steps))], "/")
}

// sameTree lets a package split itself into folders.
func sameTree(a, b string) bool { return tree(a) == tree(b) }

// matches compares a path with a pattern whose last element may be *.
func matches(pattern, p string) bool {
	if dir, ok := strings.CutSuffix(pattern, "/*"); ok {
		return strings.HasPrefix(p, dir+"/")
	}
	return path.Clean(pattern) == p
}
