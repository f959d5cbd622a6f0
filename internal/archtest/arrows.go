package archtest

import (
	"path"
	"slices"
	"strconv"
	"strings"
)

// Row says what one package may import, and who may import it.
type Row struct {
	// Package is a path in the module; a last step * stands for any folder there.
	Package string
	// May lists the packages of ours that it may import; "*" is all of them, a last step * any
	// folder there.
	May []string
	// Tests lists what its test files may import beside that.
	Tests []string
	// Never lists packages of the standard library that it may not import; a last step * covers a
	// tree.
	Never []string
	// From, when given, lists the only packages that may import it.
	From []string
	// Anybody may import it: words that all rooms say in the same way.
	Anybody bool
	// Room holds the row also for imports within its own tree: without it, a package splits itself
	// into folders as it likes.
	Room bool
	Why  string
}

// Table is the architecture: a package that is not in it and lies under internal is a leaf helper,
// which imports nothing of ours. Arrows point inwards: adapters know ports, ports know nobody.
func Table() []Row {
	return append(slices.Concat(centre(), program(), providers(), rooms(), far(), served()), []Row{
		{Package: "session", May: []string{"tool", "internal/jsontext"}, Why: "the conversation knows tools, its own ports, and how a long text is written"},
		{Package: "prompts", Why: "embedded texts"},
		{Package: "docs", Why: "embedded pages"},
		{Package: "toolset", May: []string{"tool", "internal/workspace", "internal/search", "internal/proc",
			"internal/web", "internal/websearch", "internal/diff", "internal/text", "internal/textedit", "internal/git", "internal/jsonc", "internal/secret",
			"internal/notebook", "internal/scale", "internal/lsp", "internal/format", "internal/ownfile"}, Why: "tools act through leaf helpers"},
		{Package: "tui", May: []string{"session", "tool", "internal/safeterm"}, Why: "an observer of one event stream"},
		{Package: "tui/look", Room: true, May: []string{"tool", "internal/safeterm", "tui/draw"}, Never: outside(),
			Why: "what rooms share to show themselves alike knows none of them"},
		{Package: "tui/edit", Room: true, May: []string{"internal/safeterm", "tui/draw", "tui/look"}, Never: outside(), Why: "a text with a cursor knows no pane"},
		{Package: "tui/vim", Room: true, May: []string{"tui/draw", "tui/edit"}, Tests: []string{"internal/safeterm"}, Never: outside(), Why: "keys over a text, nothing else"},
		{Package: "tui/prompt", Room: true, May: []string{"session", "internal/safeterm", "tui/draw", "tui/look", "tui/edit", "tui/vim", "tui/choose", "tui/port"},
			Never: outside(), Why: "the line takes keys and returns what happened; it knows no model and asks nobody"},
		{Package: "tui/transcript", Room: true, May: []string{"session", "tool", "internal/safeterm", "tui/draw", "tui/look"}, Never: outside(),
			Why: "a pane takes events and draws itself"},
		{Package: "tui/pane", Room: true, May: []string{"session", "tool", "internal/safeterm", "tui/draw", "tui/look", "tui/edit"}, Never: outside(),
			Why: "a pane takes events and draws itself"},
		{Package: "tui/permission", Room: true, May: []string{"tool", "internal/safeterm", "tui/draw", "tui/look", "tui/edit"}, Never: outside(),
			Why: "the dialog shows a question and keeps the answer; it decides nothing"},
		{Package: "tui/inquiry", Room: true, May: []string{"internal/safeterm", "tui/draw", "tui/look", "tui/edit"}, Never: outside(),
			Why: "the dialog shows a question of the model and keeps the answer; it knows no tool"},
		{Package: "tui/choose", Room: true, May: []string{"internal/safeterm", "tui/draw", "tui/look", "tui/edit"}, Why: "a list knows rows, not what they stand for"},
		{Package: "tui/firstrun", Room: true, May: []string{"internal/safeterm", "tui/draw", "tui/edit", "tui/look", "tui/port"}, Why: "a screen that tells and marks"},
		{Package: "tui/port", Room: true, May: []string{"session", "tool"}, Never: outside(), Why: "functions and plain values"},
		{Package: "tui/plain", Room: true, May: []string{"session", "internal/lineread", "internal/safeterm", "tui/draw", "tui/choose", "tui/pane", "tui/permission", "tui/inquiry", "tui/transcript"},
			Why: "the same panes by lines; the root only through its port"},
		{Package: "internal/print", May: []string{"internal/jsontext", "session", "tool", "internal/safeterm", "internal/secret", "internal/usage"}, Why: "an observer of one event stream"},
		{Package: "internal/talk", May: []string{"internal/enclosed", "internal/jsontext", "internal/lineread", "internal/print", "internal/usage", "session", "tool", "tui/inquiry", "tui/permission"}, Why: "it puts the questions of the interface to a program, and knows neither the wiring nor who decides"},

		{Package: "internal/store", May: []string{"session", "tool", "internal/whole"}, Why: "adapters depend inwards"},
		{Package: "internal/agent", May: []string{"session", "tool", "toolset", "internal/carry"}, Why: "it turns a call of the task tool into a session, of an agent that is built in or that a file describes"},
		{Package: "internal/audit", May: []string{"session", "tool"}, Why: "it reads what the session wrote, wherever that is kept"},

		{Package: "internal/models", May: []string{"session", "tool", "internal/llm/*", "internal/config", "internal/catalog", "internal/usage"}, Why: "which model a run uses knows adapters and the configuration, and neither flags nor the interface"},
		{Package: "internal/masked", May: []string{"session", "tool", "internal/secret"}, Why: "what the log keeps, without secrets, wherever it is kept"},
		{Package: "internal/spill", May: []string{"tool", "internal/secret"}, Why: "a whole output has the name of its call"},

		{Package: "internal/plan", May: []string{"session", "tool", "toolset", "internal/diff", "internal/policy", "internal/whole"}, Tests: []string{"internal/store"}, Why: "a plan meets the conversation, its tool and the mode that goes on"},
		{Package: "internal/policy", May: []string{"tool", "internal/secret", "internal/workspace"}, Tests: []string{"internal/proc", "internal/sandbox"}, Why: "the gate judges resolved paths"},
		{Package: "internal/policy/harmless", Room: true, Never: effects(), Why: "a table of programs; it knows words, and neither files nor rules"},
		{Package: "internal/policy/script", Room: true, Never: effects(), Why: "it reads and writes shell text; which programs may run, it does not know"},
		{Package: "internal/carry", May: []string{"internal/workspace", "internal/text", "internal/ownfile"}, Why: "it finds and reads files through the workspace; what they mean, others know"},
		{Package: "internal/trust", May: []string{"tool", "internal/workspace", "internal/carry", "internal/hook/dialect", "internal/jsonc", "internal/whole", "internal/ownfile"}, Why: "consent is about files in the workspace, in the places where things are carried, and shows what hooks of others mean here"},
		{Package: "internal/hook", May: []string{"session", "tool", "internal/jsonc", "internal/proc", "internal/ownfile"}, Why: "it starts programs for moments of a session and knows neither the wiring nor who allowed them"},
		{Package: "internal/hook/dialect", Room: true, Never: effects(), Why: "it reads and writes texts; it opens nothing and starts nothing"},
		{Package: "internal/sandbox", May: []string{"tool", "internal/workspace", "internal/proc", "internal/proxy", "internal/whole", "internal/secret"}, Why: "a sandbox wraps processes, and gives them copies of settings without what is secret in them"},

		{Package: "internal/textedit", May: []string{"internal/text", "internal/diff"}, Why: "edits keep the format that text found and show what changed"},
		{Package: "internal/config", May: []string{"internal/jsonc", "tool/nearest", "internal/whole", "internal/ownfile"}, Why: "a file that a person writes"},
		{Package: "internal/keyring", May: []string{"internal/whole", "internal/ownfile"}, Why: "keys in a file or the system's ring; it knows nobody who uses them"},
		{Package: "internal/proc", May: []string{"internal/secret", "internal/whole"}, Why: "it keeps secrets out of the environment of commands, and records of those that run"},
		{Package: "internal/git", May: []string{"internal/proc"}, Why: "git is a supervised process"},
		{Package: "internal/enclosed", May: []string{"tool"}, From: []string{"internal/acp", "internal/serve", "internal/talk", "internal/desk"}, Why: "bytes that came with a prompt; who sent them it does not know"},
		{Package: "internal/ways", Anybody: true, Never: outside(), Why: "how many patterns one stands for; it knows nothing else"},
		{Package: "internal/fold", Anybody: true, Never: outside(), Why: "how repetitive text is shortened; it knows nothing else"},
		{Package: "internal/plural", Anybody: true, Never: outside(), Why: "how English counts; it knows nothing else"},
		{Package: "internal/golden", From: []string{}, Why: "for tests only"},
		{Package: "internal/archtest", From: []string{}, Why: "for its own test only"},
	}...)
}

// program is what is put together at the top, and what the user starts.
func program() []Row {
	return []Row{
		{Package: ".", May: []string{"internal/app"}, Why: "main only starts the app"},
		{Package: "internal/app", May: []string{"*"}, From: []string{".", "internal/bench/floor"}, Why: "the wiring sees all and is seen by main alone; a program to measure against links it"},
		{Package: "internal/bench/floor", May: []string{"session", "internal/app", "internal/store"}, From: []string{}, Why: "a program of its own, to be measured against: alone, or with all that adze is"},
		{Package: "internal/command", May: []string{"docs", "session", "tool", "tool/pick", "tool/pickset", "internal/audit", "internal/batch", "internal/blame", "internal/carry", "internal/config", "internal/models", "internal/doctor", "internal/export", "internal/fleet", "internal/follow", "internal/forget", "internal/gate", "internal/instructions", "internal/keyring",
			"internal/login", "internal/mcp", "internal/mend", "internal/offer", "internal/place", "internal/policy", "internal/print", "internal/proc", "internal/rewind", "internal/recall", "internal/resume", "internal/safeterm", "internal/secret", "internal/signals", "internal/store", "internal/trust", "internal/usage", "internal/worktree", "internal/whole"},
			From: []string{"internal/app"}, Why: "a command looks and tells; it asks the program through its own port, and wires nothing"},
		{Package: "internal/doctor", May: []string{"session", "toolset", "internal/llm/*", "internal/catalog", "internal/config", "internal/models", "internal/place", "internal/proc", "internal/rewind", "internal/undo", "internal/sandbox", "internal/store"},
			Why: "it looks at what a run needs; it knows neither flags nor how its findings are shown"},
	}
}

// rooms are what a run is put together of at the top: each does one thing and knows no other of
// them.
func rooms() []Row {
	return []Row{
		{Package: "internal/workspace/buffers", Room: true, May: []string{"internal/workspace"}, Why: "a way to files through an editor; the root is where its port stands"},
		{Package: "internal/acp", May: []string{"internal/enclosed", "internal/jsontext", "internal/lineread", "internal/diff", "internal/secret", "session", "tool", "tui/inquiry", "tui/permission", "tui/port"}, Why: "an observer of one event stream that asks the questions of the interface in an editor; it knows neither the wiring nor who decides; its tests compare what it makes of diffs"},
		{Package: "internal/rewind", May: []string{"session", "tool", "internal/diff", "internal/git", "internal/undo", "internal/proc", "internal/whole"}, Tests: []string{"internal/store"}, Why: "it ties the log of a session to states of files; it starts no run and shows nothing"},
		{Package: "internal/undo", May: []string{"internal/undo/pack", "internal/undo/watch", "internal/search/ignore", "internal/whole"}, Why: "states of a folder: it knows contents, ignore rules and the disk, and neither calls nor sessions"},
		{Package: "internal/sandbox/overlay", Room: true, Why: "changes of folders; it knows no command and no git"},
		{Package: "internal/sandbox/sight", Room: true, Why: "folders as they are; it knows no command"},
		{Package: "internal/heap", From: []string{"internal/app"}, Why: "it is the process's; only who is the process sets it"},
		{Package: "internal/undo/pack", Room: true, May: []string{"internal/whole"}, Why: "contents by their hash; it knows no folder"},
		{Package: "internal/undo/watch", Room: true, Why: "what the system tells of changes; it knows no state"},
		{Package: "internal/format", May: []string{"internal/proc"}, Why: "a program rewrites a text; it knows neither files nor who allowed it"},
		{Package: "internal/lsp", May: []string{"internal/proc"}, Tests: []string{"internal/nodetest"}, Why: "it speaks with servers about files; it knows neither tools nor who allowed the servers"},
		{Package: "internal/mcp/dial", Room: true, May: []string{"internal/mcp", "internal/mcp/oauth", "internal/mcp/remote"}, Tests: []string{"internal/nodetest", "internal/proc", "internal/web"}, Why: "a wire with a login; it starts nothing and asks nobody"},
		{Package: "internal/mcp/consent", Room: true, May: []string{"internal/mcp", "internal/mcp/wire", "internal/mcp/oauth"}, Why: "questions of servers to a person, through a function; it knows neither the interface nor a run"},
		{Package: "internal/mcp/sampling", Room: true, May: []string{"internal/mcp", "session", "tool"}, Why: "requests of servers to a model, through functions; it knows neither the run nor its models"},
		{Package: "internal/mcp/serve", Room: true, May: []string{"internal/lineread", "internal/policy", "internal/safeterm", "internal/usage", "tool"}, Why: "it speaks with clients and puts questions to them; it runs nothing and knows no session"},
		{Package: "internal/mcp/share", Room: true, May: []string{"internal/mcp", "session", "tool", "internal/whole"}, Tests: []string{"internal/mcp/dial", "internal/mcp/mcptest", "internal/mcp/oauth", "internal/mcp/remote", "internal/nodetest"}, Why: "resources and prompts of a pool; it starts nothing but through the pool"},
		{Package: "internal/mcp/remote", Room: true, May: []string{"internal/mcp/wire", "internal/web"}, Why: "connections to servers elsewhere; it knows addresses and bounds, and neither tools nor logins"},
		{Package: "internal/mcp/clients", Room: true, May: []string{"internal/jsonc", "internal/mcp"}, Why: "it reads files of other assistants; who writes them down here is not its own"},
		{Package: "internal/mcp/wire", Room: true, Why: "messages of a server, changed for the library; it knows no connection"},
		{Package: "internal/mcp", May: []string{"internal/lineread", "internal/mcp/wire", "tool", "tool/schema", "internal/proc", "internal/whole"}, Tests: []string{"internal/nodetest", "tool/pick"}, Why: "it speaks with servers and makes tools of what they offer; it knows neither the run nor who allowed them"},
		{Package: "internal/mcp/oauth", Room: true, May: []string{"internal/mcp/remote", "internal/keyring"}, Why: "logins and what they bring; it knows no session and asks a person only through its desk"},
		{Package: "internal/desk", May: []string{"internal/config", "internal/enclosed", "internal/git", "internal/rewind", "session", "tool", "tui/port", "internal/proc", "internal/recall", "internal/scale", "internal/search", "internal/secret", "internal/policy", "internal/safeterm", "internal/usage", "internal/whole", "internal/lineread"},
			Why: "it does things for the person and knows neither the interface nor a run"},
		{Package: "internal/export", May: []string{"session", "tool", "internal/secret", "internal/safeterm", "tui/draw/markdown"}, Never: effects(),
			Why: "entries become texts and back; it opens and starts nothing"},
		{Package: "internal/blame", May: []string{"session", "tool", "internal/diff"}, Never: effects(), Why: "it reads logs; files and stores are read by who asks"},
		{Package: "internal/answer", May: []string{"session", "tool", "internal/usage"}, Why: "it judges a text by a schema and asks nobody"},
		{Package: "internal/keys", May: []string{"internal/config", "internal/keyring", "internal/masked", "internal/models", "internal/proc", "internal/secret", "internal/usage", "tool"},
			Why: "which variables hold keys is told by the configuration and the table of providers"},
		{Package: "internal/login", May: []string{"session", "internal/keyring", "internal/models", "internal/usage"}, Tests: []string{"internal/config"}, Why: "it checks a key and keeps it; it asks nobody for one"},
		{Package: "internal/batch", May: []string{"internal/lineread", "session", "tool", "internal/proc", "internal/whole"}, Why: "it runs this program on clones, and reads what it prints; it knows neither flags nor what is shown"},
		{Package: "internal/worktree", May: []string{"internal/git", "internal/usage", "internal/whole"}, Why: "it makes work trees through git and remembers them; it knows no session"},
		{Package: "internal/fleet", Room: true, May: []string{"session", "internal/batch"}, Tests: []string{"internal/fleet/fleettest"},
			Why: "who does what of a batch, over ports; it knows no server, no flags and nothing that is shown"},
		{Package: "internal/fleet/jetqueue", Room: true, May: []string{"internal/fleet", "internal/jet"}, Tests: []string{"internal/batch", "internal/fleet/fleettest", "internal/jet/jettest"}, Why: "ports of a fleet over one server's client"},
		{Package: "internal/fleet/fleettest", Room: true, May: []string{"internal/fleet"}, From: []string{"internal/fleet", "internal/fleet/jetqueue"}, Why: "for tests only"},
		{Package: "internal/claims", May: []string{"session", "tool"}, Why: "it compares an answer with the calls of its turn; it opens nothing"},
		{Package: "internal/gate", May: []string{"internal/config", "internal/git", "internal/place", "internal/policy", "internal/proc", "internal/secret", "internal/usage", "internal/workspace"}, Tests: []string{"tool"},
			Why: "it makes a policy of what a person wrote; it knows no run"},
		{Package: "internal/resume", May: []string{"session", "internal/store", "internal/usage"}, Why: "it looks through stored sessions and starts none"},
		{Package: "internal/mend", May: []string{"session", "tool", "internal/store"}, Tests: []string{"internal/llm/*"},
			Why: "it reads a log that is damaged and writes another one; it runs nothing and tells nobody"},
		{Package: "internal/forget", May: []string{"session", "internal/fleet", "internal/recall", "internal/resume", "internal/store"}, Tests: []string{"internal/batch", "internal/fleet/*", "internal/jet", "internal/jet/*"},
			Why: "it lets go what others keep, here and on servers, and knows neither flags nor the configuration"},
		{Package: "internal/recall", May: []string{"session", "tool", "internal/store"}, Why: "it reads logs and keeps their words; it knows no run"},
		{Package: "internal/serve", May: []string{"session", "tool", "internal/enclosed", "internal/jsontext", "internal/follow", "internal/secret", "internal/uistream", "tui/inquiry", "tui/permission"}, Tests: []string{"internal/nodetest"},
			From: []string{"internal/app"}, Why: "it puts sessions behind HTTP; how one is opened and where it is kept, it asks the program"},
		{Package: "internal/uistream", May: []string{"session", "tool", "internal/secret"}, Tests: []string{"internal/nodetest"}, Never: effects(),
			Why: "events become parts of a protocol; it opens, asks and sends nothing"},
		{Package: "internal/follow", May: []string{"session", "tool", "internal/store"}, Why: "it reads the log of another process and shows nothing itself"},
		{Package: "internal/stdio", May: []string{"internal/usage", "internal/text"}, Tests: []string{"session"}, Why: "what the process was started with"},
		{Package: "internal/signals", May: []string{"session"}, Why: "a signal ends a run with a cause"},
		{Package: "internal/choices", May: []string{"tui/firstrun", "tui/port", "internal/llm/discover", "internal/models", "internal/doctor"}, Tests: []string{"internal/config"},
			Why: "it tells what was found; it asks through the finder and shows nothing itself"},
		{Package: "internal/offer", May: []string{"session", "tool", "toolset", "internal/config", "internal/llm/embed", "internal/usage", "internal/whole"},
			Why: "it chooses among tools by what was measured; it opens nothing"},
		{Package: "internal/skill", May: []string{"session", "tool", "tool/pick", "toolset", "prompts", "internal/carry"}, Why: "texts that are carried become an index and notes"},
		{Package: "internal/slash", May: []string{"session", "prompts", "tool", "toolset", "internal/carry", "internal/skill", "internal/trust", "internal/usage"},
			Why: "it makes a prompt of a file that is carried; it runs what it needs through the port that the session hands it"},
		{Package: "internal/instructions", May: []string{"prompts", "tool", "session", "internal/usage", "internal/safeterm", "internal/workspace", "internal/carry", "internal/secret", "internal/text", "internal/ownfile"}, Why: "files of a project and a person become text for the model, at the start and as notes of a session"},
	}
}

// effects is what the centre may not reach: it goes through fields there.
func effects() []string {
	return []string{"os", "os/*", "net", "net/http", "net/netip", "log", "log/*", "syscall"}
}

// outside is what a pane may not reach: the event loop, the disk, other programs, the network.
func outside() []string {
	return []string{"charm.land/bubbletea/*", "os", "os/*", "net", "net/*"}
}

// forTests is what every test may import: written fakes and cases instead of mocks.
func forTests() []string {
	return []string{"internal/golden", "internal/lsp/lsptest", "internal/mcp/mcptest", "internal/llm/llmtest", "internal/llm/script", "internal/store", "internal/jet/jettest"}
}

// arrows checks every import of a package against the table.
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
	if target.From != nil && !test && !slices.Contains(target.From, from) {
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
	c.report(where, "declare a port where it is needed and let internal/app wire it, or argue a new row in the table",
		"%s may not import %s: %s; it may import %s", from, to, why, allowed(may))
}

func allowed(may []string) string {
	if len(may) == 0 {
		return "nothing of ours"
	}
	return strings.Join(may, ", ")
}

// row finds the most exact row for a package.
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
	if top := tree(p); !found && top != p && top != "internal/llm" {
		return c.row(top)
	}
	return wide, found
}

// within reports whether a package lies in the folder of one that is in the table.
func (c *checker) within(p string) bool {
	_, ok := c.row(tree(p))
	return ok
}

// ours turns an import path into a path of the module.
func (c *checker) ours(target string) (string, bool) {
	if target == c.module.name {
		return ".", true
	}
	return strings.CutPrefix(target, c.module.name+"/")
}

// tree is the folder that a helper owns: internal/search for internal/search/match.
func tree(p string) string {
	steps := strings.Split(p, "/")
	depth := 1
	if steps[0] == "internal" {
		depth = 2
	}
	return strings.Join(steps[:min(depth, len(steps))], "/")
}

// sameTree lets a package split itself into folders; providers stay strangers to one another.
func sameTree(a, b string) bool {
	return tree(a) == tree(b) && tree(a) != "internal/llm"
}

// matches compares a path with a pattern whose last step may be *.
func matches(pattern, p string) bool {
	if dir, ok := strings.CutSuffix(pattern, "/*"); ok {
		return strings.HasPrefix(p, dir+"/")
	}
	return path.Clean(pattern) == p
}
