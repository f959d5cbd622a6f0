package cmd_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"adze/internal/testkit/mcptest"
)

// served is the entry of a server that leaves a byte in a file with each start, and behaves as it
// is told.
func (u *user) served(how string) (entry, starts string) {
	u.t.Helper()
	self, err := os.Executable()
	if err != nil {
		u.t.Fatal(err)
	}
	starts = filepath.Join(u.t.TempDir(), "starts")
	raw, _ := json.Marshal(map[string]any{"command": self, "args": []string{mcptest.Word, how + "; start " + starts}}) // texts always encode
	return string(raw), starts
}

func startsIn(t *testing.T, file string) int {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return len(raw)
}

// meets has the user's server tell its tools: a search of the model starts it.
const meets = "-- 1 --\ncall tool_search: {\"query\":\"echo says it again\"}\n-- 2 --\nexpect tool_search completed: fake_echo\n"

// TestASearchStartsAServerThatNobodyKnows: its tools join, a rule allows them, and the next run
// knows them without it.
func TestASearchStartsAServerThatNobodyKnows(t *testing.T) {
	u := newUser(t)
	entry, starts := u.served("old")
	u.configure(`{"tools": {"offer_above": 5}, "mcp": {"servers": {"fake": ` + entry + `}}}`)
	steps := meets + "call fake_echo: {\"text\":\"hello\"}\n-- 3 --\nexpect fake_echo completed: ^hello$\ntext: done\n"
	u.run("-p", "--allow", "execute(mcp:fake echo)", u.script(steps), "go").wants(0, "done")
	u.run("-p", u.script("-- 1 --\ncall fake_echo: {\"text\":\"hello\"}\n-- 2 --\nexpect fake_echo denied: .\ntext: done\n"), "go").wants(7, "done")
	if n := startsIn(t, starts); n != 1 {
		t.Errorf("%d starts: a call that is denied starts nothing", n)
	}
	u.configure(`{"allow": ["execute(mcp:fake **)"], "mcp": {"servers": {"fake": ` + entry + `}}}`)
	u.run("-p", u.script("-- 1 --\ncall fake_echo: {\"text\":7}\n-- 2 --\ncall fake_echo: {\"text\":\"again\"}\n-- 3 --\nexpect fake_echo completed: ^again$\ntext: done\n"), "go").wants(0, "done")
	if n := startsIn(t, starts); n != 2 {
		t.Errorf("%d starts", n)
	}
}

// TestTenServersCostAPromptNothing: no process is started and nothing dialled for a prompt that
// calls none of them.
func TestTenServersCostAPromptNothing(t *testing.T) {
	u := newUser(t)
	var all []string
	entry, starts := u.served("old")
	for i := range 9 {
		all = append(all, fmt.Sprintf(`"s%d": %s`, i, entry))
	}
	all = append(all, `"s9": {"url": "http://127.0.0.1:1/mcp"}`)
	u.configure(`{"mcp": {"servers": {` + strings.Join(all, ",") + `}}}`)
	for i := range 9 { // each was there before
		u.run("mcp", "test", fmt.Sprintf("s%d", i)).wants(0, "echo")
	}
	before := startsIn(t, starts)
	u.run("-p", u.script("-- 1 --\ntext: done\n"), "go").wants(0, "done")
	if n := startsIn(t, starts); n != before {
		t.Errorf("%d starts for a prompt", n-before)
	}
}

// TestAProjectsServerWaitsForConsent: before it nothing starts; a changed entry is asked again; it
// says which variables it gets.
func TestAProjectsServerWaitsForConsent(t *testing.T) {
	u := newUser(t)
	entry, starts := u.served("old")
	u.configure(`{"tools": {"offer_above": 5}}`)
	u.file(".mcp.json", `{"mcpServers": {"fake": `+entry+`}}`)
	none := "-- 1 --\ncall fake_echo: {\"text\":\"x\"}\n-- 2 --\nexpect fake_echo invalid: .\ntext: done\n"
	u.run("-p", "--allow", "execute(mcp:fake **)", u.script(none), "go").wants(0, "done", "server:fake")
	if startsIn(t, starts) != 0 {
		t.Fatal("it was started without consent")
	}
	u.run("trust", "allow", "server:fake").wants(0)
	steps := meets + "call fake_echo: {\"text\":\"hello\"}\n-- 3 --\nexpect fake_echo completed: ^hello$\ntext: done\n"
	u.run("-p", "--allow", "execute(mcp:fake **)", u.script(steps), "go").wants(0, "done")
	u.file(".mcp.json", `{"mcpServers": {"fake": `+strings.Replace(entry, `"args"`, `"env":{"T":"${SECRET_TOKEN}"},"args"`, 1)+`}}`)
	u.run("-p", "--allow", "execute(mcp:fake **)", u.script(none), "go").wants(0, "done", "changed")
	u.run("trust", "show", "server:fake").wants(0, "SECRET_TOKEN")
}

// TestADenyHoldsForAServersProgram: what may not run does not run as a server either.
func TestADenyHoldsForAServersProgram(t *testing.T) {
	u := newUser(t)
	entry, starts := u.served("old")
	u.configure(`{"tools": {"offer_above": 5}, "deny": ["execute"], "mcp": {"servers": {"fake": ` + entry + `}}}`)
	u.run("-p", u.script("-- 1 --\ncall tool_search: {\"query\":\"echo says it again\"}\n-- 2 --\ntext: done\n"), "go").wants(0, "done")
	if startsIn(t, starts) != 0 {
		t.Error("it was started")
	}
}

// TestAFirstRunWaitsForAServerThatInstallsItself: it is started once, its tools are there for the
// first request, and what it takes is told. A second run starts nothing.
func TestAFirstRunWaitsForAServerThatInstallsItself(t *testing.T) {
	u := newUser(t)
	entry, starts := u.served("silent at server/discover; old")
	u.configure(`{"mcp": {"servers": {"fake": ` + entry + `}}}`)
	u.run("mcp", "list").wants(0, "never started")
	u.run("-p", "--allow", "execute(mcp:fake echo)", u.script("-- 1 --\ncall fake_echo: {\"text\":\"hello\"}\n-- 2 --\nexpect fake_echo completed: ^hello$\ntext: done\n"), "go").
		wants(0, "done", "MCP server fake is started for the first time", "MCP server fake is ready after ", ": 1 tool")
	u.run("-p", u.script("-- 1 --\ntext: done\n"), "go").wants(0, "done")
	if n := startsIn(t, starts); n != 1 {
		t.Errorf("%d starts", n)
	}
	u.run("mcp", "list").wants(0, "ready")
}

// TestACallByHandMeetsAServer: its tool can be called before anything else started it.
func TestACallByHandMeetsAServer(t *testing.T) {
	u := newUser(t)
	entry, _ := u.served("old")
	u.configure(`{"mcp": {"servers": {"fake": ` + entry + `}}}`)
	u.run("tools", "run", "fake_echo", "--args", `{"text":"hello"}`, "--allow", "execute(mcp:fake echo)").wants(0, "hello", "MCP server fake is ready")
}

// TestAServerThatFailedHoldsUpOneRun: it is waited for once, its state and its words are told, and
// a failed add leaves nothing behind.
func TestAServerThatFailedHoldsUpOneRun(t *testing.T) {
	u := newUser(t)
	entry, _ := u.served("exit at initialize")
	u.configure(`{"mcp": {"servers": {"fake": ` + entry + `}}}`)
	u.run("-p", u.script("-- 1 --\ntext: done\n"), "go").wants(0, "done", "is started for the first time", "MCP server fake does not work: exit code 3: cannot go on")
	if r := u.run("-p", u.script("-- 1 --\ntext: done\n"), "go").wants(0, "done", "failed when it was last started, and starts by itself from", "cannot go on; adze mcp test fake"); strings.Contains(r.err, "for the first time") {
		t.Error(r.err)
	}
	u.run("mcp", "list").wants(0, "failed", "cannot go on")
	u.run("mcp", "get", "fake").wants(0, "failed", "cannot go on", "last start", "log")
	u.run("mcp", "logs", "fake").wants(0, "first words\ncannot go on", "fake ended: exit code 3")
	u.run("mcp", "logs", "fake", "--json", "-n", "1").wants(0, `"log":"---`)
	u.look("fake failed: exit code 3: cannot go on", "adze mcp logs fake")
	u.run("mcp", "disable", "fake").wants(0, "fake is disabled")
	u.run("mcp", "list").wants(0, "disabled")
	u.run("mcp", "logs", "fake").wants(2, "adze mcp enable fake")
	u.run("mcp", "enable", "fake").wants(0, "fake is enabled")
	u.run("mcp", "list", "--json").wants(0, `"state":"failed"`)

	kept := func() (names []string) {
		_ = filepath.WalkDir(u.home, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && strings.Contains(path, "mcp") {
				names = append(names, path)
			}
			return nil
		})
		return names
	}
	before, file := kept(), filepath.Join(u.home, "config.json")
	was, _ := os.ReadFile(file)
	self, _ := os.Executable()
	u.run("mcp", "add", "none", "--", self, mcptest.Word, "exit at initialize").wants(8, "cannot go on", "It wrote:\n  first words", "was not added")
	if now, _ := os.ReadFile(file); string(now) != string(was) || !slices.Equal(kept(), before) {
		t.Errorf("%q, not %q\n%s", kept(), before, now)
	}
}

// TestAChangeThatIsMeantIsNotAskedAbout where the server's pin is off.
func TestAChangeThatIsMeantIsNotAskedAbout(t *testing.T) {
	u := newUser(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	tools := filepath.Join(t.TempDir(), "tools")
	say := func(text string) {
		if err := os.WriteFile(tools, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	say(mcptest.Echo)
	u.run("mcp", "add", "fake", "--no-pin", "--", self, mcptest.Word, "old; tools from "+tools).wants(0, "fake works")
	say(strings.Replace(mcptest.Echo, "says it again", "says it, and more", 1))
	u.run("mcp", "test", "fake").wants(0, "says it, and more")
	u.run("-p", "--allow", "execute(mcp:fake **)", u.script("-- 1 --\ncall fake_echo: {\"text\":\"x\"}\n-- 2 --\nexpect fake_echo completed: x\ntext: done\n"), "go").wants(0, "done")
}

// look runs adze doctor, whatever it ends with.
func (u *user) look(parts ...string) {
	u.t.Helper()
	r := u.run("doctor", "--offline")
	r.wants(r.code, parts...)
}

// TestServersOfOtherAssistantsAreTakenOver: shown first, written with --yes, and said by doctor.
func TestServersOfOtherAssistantsAreTakenOver(t *testing.T) {
	u := newUser(t)
	entry, starts := u.served("old")
	for name, text := range map[string]string{".cursor/mcp.json": `{"mcpServers": {"fake": ` + entry + `, "bad name!": {"url": "https://a.example"}}}`, ".codex/config.toml": "[mcp_servers.fake]\ncommand = \"other\"\n[mcp_servers.timed]\ncommand = \"other\"\nstartup_timeout_sec = 20\n"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(u.own, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(u.own, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	u.look("3 servers in other assistants (bad-name, fake, timed); adze mcp import takes them over")
	u.run("mcp", "import").wants(0, "fake", "new", "different", "cursor", "config.toml", "nothing was written; --yes takes over 3 servers")
	u.run("mcp", "import", "timed", "--yes").wants(0, "added 1 server") // a number of seconds is a duration here
	u.run("mcp", "import", "none").wants(2, "no other assistant")
	u.run("mcp", "import", "fake", "--yes", "--json").wants(0, `"state":"imported"`, `"state":"different"`)
	if startsIn(t, starts) != 0 {
		t.Error("it was started")
	}
	u.run("mcp", "import", "fake", "--yes").wants(0, "there", "nothing to take over")
	u.run("mcp", "test", "fake").wants(0, "fake works")
}

// TestServersAreLookedAfter: added, listed, tried, agreed to again when they say otherwise, and
// removed.
func TestServersAreLookedAfter(t *testing.T) {
	u := newUser(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	tools := filepath.Join(t.TempDir(), "tools")
	say := func(text string) {
		if err := os.WriteFile(tools, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	say(mcptest.Echo)
	u.configure("{\n  // mine\n  \"permission_mode\": \"ask\"\n}\n")
	u.run("mcp", "add", "fake", "--env", "A=${HOME}", "--", self, mcptest.Word, "old; banner; tools from "+tools).wants(0, "fake works", "fake_echo: says it again", "no messages")
	if raw, _ := os.ReadFile(filepath.Join(u.home, "config.json")); !strings.Contains(string(raw), "// mine") || !strings.Contains(string(raw), "${HOME}") {
		t.Errorf("%s", raw)
	}
	u.run("mcp", "add", "fake", "https://a.example/").wants(2, "already")
	u.run("mcp", "add", "bad name", "--", "x").wants(2, "a name is")
	u.run("mcp", "add", "none", "--", "there-is-no-such-program").wants(8, "not in PATH")
	u.run("mcp", "add", "none", "--", "there-is-no-such-program").wants(8, "not in PATH", "was not added")
	u.run("mcp", "add", "none", "--no-test", "--", "there-is-no-such-program").wants(0, "added none")
	u.run("mcp", "add", "fake", "--replace", "--", "there-is-no-such-program").wants(8, "stays as it was")
	u.run("mcp", "test", "nobody").wants(2, "adze mcp list")
	u.run("mcp", "list", "--json").wants(0, `{"name":"fake","state":"ready"`, `"tools":["fake_echo"]`, `{"name":"none","state":"never started"`, `"seen":false`)
	u.run("tools", "list").wants(0, "fake_echo")
	u.run("context").wants(0, "fake_echo")
	say(strings.Replace(mcptest.Echo, "says it again", "says it, and sends it away", 1))
	u.run("mcp", "test", "fake").wants(8, "otherwise than you agreed to", "sends it away")
	u.run("-p", "--allow", "execute(mcp:fake **)", u.script("-- 1 --\ncall fake_echo: {\"text\":\"x\"}\n-- 2 --\nexpect fake_echo denied: adze mcp accept fake\ntext: done\n"), "go").wants(0, "done")
	u.run("mcp", "accept", "fake").wants(0, "sends it away")
	u.run("mcp", "test", "fake", "--json").wants(0, `"works":true`)
	u.run("mcp", "remove", "fake").wants(0, "removed")
	u.run("mcp", "remove", "fake").wants(2, "no MCP server")
}
