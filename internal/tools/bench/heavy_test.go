//go:build unix

package bench

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"adze/internal/sessiondb"
	"adze/internal/testkit/effort"
	"adze/session"
)

// surrounding is what a person who has worked for long has around a start.
type surrounding struct {
	name string
	fill func(*testing.T, runner)
	uses use // of what is there, what the start tells the model of
}

// use is what of the surrounding a start has to look at or tell the model of: folders of other
// assistants, agents, skills, commands and instructions in them, servers and their tools.
type use struct{ folders, files, servers, tools int64 }

// bar is how high a count may be beside the plain one: 1.1 times, or a few calls more; and more for
// each thing that is used. A folder is asked for six names, a file is looked for and opened, the
// catalogue of a server is read, and a tool of it is decoded and named in the request.
func (u use) bar(name string, plain int64) int64 {
	slack := int64(3)
	if name == "pread64" || name == "pwrite64" {
		slack = 24 // by how long the log of the store happens to be
	}
	each := map[string]use{
		"newfstatat":  {folders: 6, files: 14},
		"openat":      {files: 10, servers: 1},
		"getdents64":  {files: 2},
		"allocations": {files: 20, tools: 84}, "bytes allocated": {tools: 7600}, "bytes of the request": {files: 120, tools: 18},
	}[name]
	return max(plain+plain/10, plain+slack) + u.folders*each.folders + u.files*each.files + u.servers*each.servers + u.tools*each.tools
}

// surroundings are those that a start must not feel. All of them, and the plain one, are
// repositories with one commit.
func surroundings() []surrounding {
	sessions, files := effort.Rounds(0, 300, 10_000), effort.Rounds(0, 3000, 100_000)
	return []surrounding{
		{"plain", func(*testing.T, runner) {}, use{}},
		{fmt.Sprintf("%d sessions", sessions), func(t *testing.T, r runner) { r.withSessions(t, sessions) }, use{}},
		{fmt.Sprintf("%d files", files), func(t *testing.T, r runner) { r.withFiles(t, files) }, use{}},
		{"10 MCP servers", func(t *testing.T, r runner) { r.withServers(t, 10, 15) }, use{servers: 10, tools: 150}},
		{"5 assistants", func(t *testing.T, r runner) { r.withAssistants(t, keeps()) }, use{folders: 5}},
		{"the same with 10 files for adze", func(t *testing.T, r runner) { r.withAssistants(t, keeps(), brings()) }, use{folders: 5, files: 10}},
	}
}

// TestSurroundingsDoNotCount compares a start with one prompt in each surrounding with the plain
// one. No count may be more than 1.1 times the plain one, but for what the start uses: see bar. CPU
// time is printed, and not judged.
//
//	ADZE_TESTS=long go test -v -run TestSurroundings -timeout 1h ./internal/tools/bench
func TestSurroundingsDoNotCount(t *testing.T) {
	newRatchet(t) // skips where counts are not to be had
	for _, program := range []string{"strace", "git"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not installed", program)
		}
	}
	all := surroundings()
	counts, runners := make([]map[string]int64, len(all)), make([]runner, len(all))
	for i, s := range all {
		r := ground(t, newInstant(t))
		must(t, os.WriteFile(filepath.Join(r.dir, "a.txt"), []byte(marks(many)), 0o600))
		r.measure(r.bare(r.adze("go"))) // the store is there
		s.fill(t, r)
		r.shell(r.dir, `git init -q -b main . && git add -A && git -c user.name=a -c user.email=a@b commit -q -m one`)
		r.measure(r.bare(r.adze("go")))
		runners[i] = r
	}
	for i, s := range all {
		worse := func() (names []string) {
			for name, n := range counts[i] {
				if n > s.uses.bar(name, counts[0][name]) {
					names = append(names, name)
				}
			}
			slices.Sort(names)
			return names
		}
		counts[i] = runners[i].counts(t)
		for tries := 1; tries < 3 || tries < 6 && len(worse()) > 0; tries++ {
			for name, n := range runners[i].counts(t) {
				counts[i][name] = min(counts[i][name], n)
			}
		}
		for _, name := range worse() {
			t.Errorf("%s: %s: %d, plain %d", s.name, name, counts[i][name], counts[0][name])
		}
	}
	cpu := make([][]float64, len(all))
	for range effort.Rounds(0, 5, 41) {
		var plain float64
		for i, r := range runners {
			took := float64(r.measure(r.bare(r.adze("go"))).cpu)
			if i == 0 {
				plain = took
			}
			cpu[i] = append(cpu[i], took/plain)
		}
	}
	var table strings.Builder
	for _, s := range all {
		fmt.Fprintf(&table, " | %s", s.name)
	}
	for _, name := range slices.Sorted(maps.Keys(counts[0])) {
		plain := counts[0][name]
		if plain <= 0 {
			continue
		}
		fmt.Fprintf(&table, "\n%s | %d", name, plain)
		for _, c := range counts[1:] {
			fmt.Fprintf(&table, " | %.2f", float64(c[name])/float64(plain))
		}
	}
	fmt.Fprint(&table, "\nCPU time")
	for _, ratios := range cpu {
		fmt.Fprintf(&table, " | %.2f", median(ratios))
	}
	t.Log("\n" + table.String())
}

// counts are those of a start with one prompt.
func (r runner) counts(t *testing.T) map[string]int64 {
	t.Helper()
	all := map[string]int64{}
	r.server.firstBody.Store(0)
	start := r.traced(t)
	for _, kind := range append([]string{"pread64"}, counted...) {
		all[kind] = start[kind]
	}
	all["bytes of the request"] = r.server.firstBody.Load()
	for i := range 4 {
		n, size := r.allocated(t)
		if i > 0 {
			n, size = min(n, all["allocations"]), min(size, all["bytes allocated"])
		}
		all["allocations"], all["bytes allocated"] = n, size
	}
	return all
}

// withSessions fills the store with sessions of the runner's folder.
func (r runner) withSessions(t *testing.T, n int) {
	t.Helper()
	s, err := sessiondb.Open(t.Context(), filepath.Join(r.home, "state", "sessions.db"), sessiondb.Options{})
	must(t, err)
	at := time.Unix(1_700_000_000, 0)
	entry := func(kind session.EntryType, data any) session.Entry {
		raw, err := json.Marshal(data)
		must(t, err)
		at = at.Add(time.Second)
		return session.Entry{Type: kind, Time: at, Data: raw}
	}
	for i := range n {
		start := entry(session.StartEntry, session.Start{Version: "1", Cwd: r.dir, Model: "openai/m", System: strings.Repeat("You are a coding assistant. ", 100)})
		text := func(text string) []session.Part { return []session.Part{{Kind: session.TextPart, Text: text}} }
		must(t, s.Append(t.Context(), session.NewID(at), start,
			entry(session.MessageEntry, session.Message{ID: "m1", Role: session.User, Parts: text(fmt.Sprintf("Look at part %d and tell what it does.", i))}),
			entry(session.MessageEntry, session.Message{ID: "m2", Role: session.Assistant, Provider: "openai", Model: "m", Stop: "end", Parts: text(strings.Repeat("It takes a step of the turn. ", 20))}),
			entry(session.EndEntry, session.Result{Cause: session.CauseDone, Steps: 1})))
	}
	must(t, s.Close())
}

// withFiles adds so many files to the runner's folder, in folders of a hundred.
func (r runner) withFiles(t *testing.T, n int) {
	t.Helper()
	for i := range n {
		dir := filepath.Join(r.dir, fmt.Sprintf("part%d/part%d", i/10_000, i/100))
		if i%100 == 0 {
			must(t, os.MkdirAll(dir, 0o700))
		}
		must(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("file%d.go", i)), fmt.Appendf(nil, "package part\n\nconst C = %d\n", i%100), 0o600))
	}
}

// keeps are files of five other assistants that a start has no use for.
func keeps() map[string]string {
	files := map[string]string{
		".claude/settings.json":                    `{"permissions":{"allow":["Bash(go test:*)"]},"hooks":{"Stop":[{"hooks":[{"type":"command","command":"true"}]}]}}`,
		".claude.json":                             `{"numStartups":900,"mcpServers":{"files":{"command":"files-server"}},"projects":{"/p":{"history":["` + strings.Repeat("a prompt ", 10_000) + `"]}}}`,
		".codex/config.toml":                       "model = \"m\"\n[mcp_servers.files]\ncommand = \"files-server\"\n",
		".codex/auth.json":                         "{}",
		".config/opencode/opencode.json":           `{"mcp":{"files":{"type":"local","command":["files-server"]}}}`,
		".local/share/opencode/log/1.log":          "INFO\n",
		".gemini/settings.json":                    `{"mcpServers":{"files":{"command":"files-server"}}}`,
		".cursor/mcp.json":                         `{"mcpServers":{"files":{"command":"files-server"}}}`,
		".cursor/extensions/extensions.json":       "[]",
		".claude/plugins/installed_plugins.json":   "{}",
		".config/opencode/node_modules/a/index.js": "",
		".config/opencode/package.json":            "{}",
		".gemini/oauth_creds.json":                 "{}",
		".gemini/tmp/0/logs.json":                  "[]",
		".codex/sessions/2026/01/01/rollout.jsonl": "{}\n",
		".codex/history.jsonl":                     "{}\n",
		".codex/log/codex-tui.log":                 "INFO\n",
		".claude/history.jsonl":                    "{}\n",
		".local/share/opencode/storage/session/1":  "{}",
		".local/share/opencode/auth.json":          "{}",
		".cursor/argv.json":                        "{}",
		".cursor/projects/p/terminals/1.txt":       "",
	}
	for i := range 300 {
		files[fmt.Sprintf(".claude/projects/-p%d/%d.jsonl", i%30, i)] = "{}\n"
		files[fmt.Sprintf(".claude/todos/%d.json", i)] = "[]"
		files[fmt.Sprintf(".codex/sessions/2026/02/%02d/rollout-%d.jsonl", i%28+1, i)] = "{}\n"
		files[fmt.Sprintf(".cursor/extensions/e%d/package.json", i)] = "{}"
	}
	return files
}

// brings are files of theirs that adze reads: instructions, agents, skills and commands.
func brings() map[string]string {
	return map[string]string{
		".claude/skills/release/scripts/release.sh": "true\n",
		".claude/skills/release/reference/steps.md": "Steps.\n",
		".codex/AGENTS.md":                          "Be brief.\n",
		".claude/skills/release/SKILL.md":           "---\nname: release\ndescription: Makes a release\n---\nRun scripts/release.sh.\n",
		".claude/agents/reviewer.md":                "---\nname: reviewer\ndescription: Reviews a change\ntools: Read, Grep, Glob, Bash\n---\nReview it.\n",
		".config/opencode/agent/tester.md":          "---\ndescription: Writes tests\nmode: subagent\n---\nWrite tests.\n",
		".gemini/commands/explain.toml":             "description = \"Explains\"\nprompt = \"Explain {{args}}\"\n",
		".config/opencode/command/changes.md":       "---\ndescription: Tells of changes\n---\nWhat changed?\n",
		".cursor/commands/tidy.md":                  "Tidy the file.\n",
		".codex/prompts/plan.md":                    "Make a plan of $1.\n",
		".claude/commands/fix.md":                   "---\ndescription: Fixes an issue\n---\nFix $ARGUMENTS.\n",
		".claude/commands/git/commit.md":            "---\ndescription: Commits\n---\nCommit.\n",
	}
}

// withAssistants fills the home.
func (r runner) withAssistants(t *testing.T, kinds ...map[string]string) {
	t.Helper()
	for _, files := range kinds {
		for name, text := range files {
			path := filepath.Join(r.home, name)
			must(t, os.MkdirAll(filepath.Dir(path), 0o700))
			must(t, os.WriteFile(path, []byte(text), 0o600))
		}
	}
}
