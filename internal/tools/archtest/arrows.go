package archtest

import (
	"slices"
	"strconv"
	"strings"
)

// A Row lists the imports within the module of some packages and of all below them. The row with
// the longest path counts. A room, as the first path of a row mostly is, may import itself.
type Row struct {
	Packages string // paths, separated by blanks
	May      string // paths, each with all below it; "*" means all
	Tests    string // additional paths for tests
	Why      string
}

// Table is the architecture. Arrows point inwards: adapters know ports, ports know nobody. A
// package of internal without a row imports nothing from the module.
func Table() []Row {
	const panes = "session tool internal/text internal/stream/ask tui/async tui/draw tui/edit tui/ui tui/vim tui/list"
	return []Row{
		{".", "internal/run", "", "main only starts the program"},
		{"tool", "internal/text tool", "", "the centre knows nobody but rooms that do not know it: effects go through its fields"},
		{"tool/schema", "internal/text tool/laxjson tool/fuzzy", "", "it knows schemas and values, neither tools nor calls"},
		{"tool/laxjson tool/fuzzy", "internal/text", "", "they know texts"},
		{"session", "tool internal/text", "", "a conversation knows tools and its own ports"},
		{"session/loop", "tool", "", "the loop knows calls, and no store"},
		{"toolset", "tool internal/editors/lsp internal/files internal/osfile internal/sandbox/proc internal/text internal/web", "", "tools act through leaf helpers"},
		{"prompts docs", "", "", "embedded texts"},

		{"tui", "session tool internal/stream/ask internal/text", "internal/files/diff", "an observer of one event stream"},
		{"tui/draw tui/ui tui/edit tui/vim tui/async tui/input tui/screen", "tool internal/text tui/draw tui/ui tui/edit", "", "what panes share knows none of them"},
		{"tui/prompt tui/transcript tui/pane tui/permission tui/question tui/list tui/firstrun", panes, "", "a pane takes events, keeps the answer and draws itself; it knows no other pane and not the root"},
		{"tui/tty", "tui/input tui/screen", "", "a terminal; it knows nothing that is shown"},

		{"internal/text", "", "", "leaf helpers import nothing of ours"},
		{"internal/text/redact internal/text/hypertext", "tool internal/text", "", "how blocks and secrets are written"},
		{"internal/osfile", "", "", "files as the system has them; it knows nothing that stands in them"},
		{"internal/config", "internal/osfile internal/text tool/fuzzy", "", "files that a user writes; they know nobody who uses them"},
		{"internal/files", "internal/osfile internal/sandbox/proc internal/text", "", "leaf helpers import nothing of ours"},
		{"internal/files/attachments", "tool", "", "bytes that came with a prompt; who sent them it does not know"},
		{"internal/web", "", "", "leaf helpers import nothing of ours"},
		{"internal/sandbox", "internal/osfile internal/text", "", "a sandbox wraps processes, and knows neither tools nor files of a user"},
		{"internal/policy", "tool internal/osfile internal/text", "internal/sandbox/proc internal/sandbox internal/files/workspace", "the gate judges resolved paths, and commands as script has read them: once"},
		{"internal/policy/script", "", "", "it reads shell text; which programs may run, it does not know"},
		{"internal/policy/programs", "internal/policy/script", "", "a table of programs; it knows words, and neither files nor rules"},
		{"internal/policy/policyconfig", "tool internal/config internal/files internal/policy internal/sandbox/proc internal/text", "", "it makes a policy of what a user wrote; it knows no run"},
		{"internal/stream", "session tool internal/files/attachments internal/text", "", "an observer of one event stream"},
		{"internal/stream/ask", "tool", "", "questions and answers are values"},
		{"internal/live", "session tool internal/files/fsnotify internal/osfile internal/stream internal/text", "", "it shows a session to other processes; how a prompt is worked on, the program says"},
		{"internal/sessiondb", "session tool internal/osfile internal/text", "", "adapters depend inwards"},
		{"internal/telemetry", "session tool internal/sessiondb/audit", "", "an observer of one event stream, for operators"},
		{"internal/undo", "session tool internal/files internal/osfile internal/sandbox/proc", "internal/sessiondb", "states of a folder, tied to the log of a session; it starts no run and shows nothing"},
		{"internal/fleet", "session tool internal/osfile internal/sandbox/proc internal/text", "", "it runs this program on clones; it knows neither flags nor what is shown"},
		{"internal/editors", "session tool internal/files internal/live internal/sandbox internal/stream internal/text", "", "observers of one event stream for editors and browsers; they know neither the wiring nor who decides"},
		{"internal/editors/lsp", "internal/sandbox", "", "it speaks with servers about files; it knows neither tools nor who allowed the servers"},
		{"internal/llm", "session tool toolset internal/config internal/osfile internal/text", "", "which model a run uses knows adapters and settings, and neither flags nor the interface"},
		{"internal/llm/wire", "session tool internal/files/imagescale internal/osfile internal/text", "", "what adapters share"},
		{"internal/llm/anthropic internal/llm/clouds internal/llm/gemini internal/llm/local internal/llm/ollama internal/llm/openai internal/llm/responses internal/llm/textparse",
			"session tool internal/llm/wire", "internal/llm", "adapters depend inwards, not on one another"},
		{"internal/mcp", "session tool internal/config/keyring internal/osfile internal/policy internal/sandbox internal/text internal/web", "", "it speaks with servers and clients; it knows neither the run nor who allowed them"},
		{"internal/mcp/wire", "internal/text", "", "messages of a server, changed for the library; it knows no connection"},
		{"internal/project", "session tool toolset prompts internal/files internal/mcp internal/osfile internal/policy internal/sandbox/proc internal/text", "internal/sessiondb internal/llm", "files that a project carries; they know neither the wiring nor the interface"},
		{"internal/project/hooks/dialect", "session internal/text", "", "it reads and writes texts; it opens nothing and starts nothing"},
		{"internal/cmd", "session tool toolset docs internal/config internal/files internal/fleet internal/live internal/llm internal/mcp internal/osfile internal/policy internal/project internal/sandbox internal/sessiondb internal/stream internal/text internal/undo",
			"internal/run", "a command looks and tells; it asks the program through its own port, and wires nothing"},
		{"internal/run", "*", "", "the wiring sees all and is seen by main alone"},
		{"internal/testkit", "session tool internal/llm/wire internal/files/workspace", "", "for tests only"},
		{"internal/tools", "session internal/run internal/sessiondb", "tool internal/osfile internal/sessiondb", "programs of their own: they measure, draw and document this one"},
	}
}

// forTests may be imported by every test: fakes and cases instead of mocks.
const forTests = "internal/testkit internal/llm/script internal/sessiondb"

// A pure package reaches the system, the network and an event loop only through its fields.
const pure = "tool tool/schema tool/laxjson tool/fuzzy tool/rank session/api internal/stream/ask internal/policy/programs internal/policy/script " +
	"internal/project/hooks/dialect internal/sessiondb/export internal/undo/blame internal/editors/htmlstream internal/editors/uistream " +
	"internal/text/braces internal/text/markdown internal/text/highlight internal/text/hypertext internal/text/fold internal/text/kern internal/text/jsontext internal/text/plural " +
	"tui/ui tui/edit tui/vim tui/prompt tui/transcript tui/pane tui/permission tui/question"

const effects = "os net/http net/netip log syscall charm.land/bubbletea"

func (c *checker) arrows(p *pkg) {
	row, room := c.row(p.path)
	if row.Packages == "" && !strings.HasPrefix(p.path, "internal/") {
		c.report(p.path, "put it under internal", "the top level of the module is fixed")
		return
	}
	for _, f := range p.files {
		for _, spec := range f.ast.Imports {
			target, _ := strconv.Unquote(spec.Path.Value)
			where := c.module.at(spec)
			to, ours := strings.CutPrefix(target+"/", c.module.name+"/")
			to = strings.TrimSuffix(to, "/")
			may := row.May
			if f.test {
				may += " " + row.Tests + " " + forTests
			}
			switch {
			case !ours:
				if !f.test && slices.Contains(strings.Fields(pure), p.path) && (target == "net" || covers(effects, target)) {
					c.report(where, "take it as a field or an argument", "%s imports %s: %s", p.path, target, row.Why)
				}
			case to == p.path, row.May == "*", covers(may, to), room && roomOf(to+"/") == roomOf(p.path+"/"):
			default:
				c.report(where, "declare a port where it is needed and let internal/run wire it, or argue a new row in the table",
					"%s may not import %s: %s; it may import %s", p.path, to, row.Why, may)
			}
		}
	}
}

// row finds the row with the longest path for a package, and reports whether that path is the whole
// room.
func (c *checker) row(p string) (found Row, room bool) {
	longest := ""
	for _, r := range c.rules.Table {
		for name := range strings.FieldsSeq(r.Packages) {
			if covers(name, p) && len(name) > len(longest) {
				found, longest = r, name
			}
		}
	}
	return found, longest == roomOf(p+"/")
}

// covers reports whether a path is one of a list, or below one of them.
func covers(list, path string) bool {
	return slices.ContainsFunc(strings.Fields(list), func(l string) bool { return l == path || strings.HasPrefix(path, l+"/") })
}
