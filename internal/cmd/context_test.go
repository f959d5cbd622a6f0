package cmd_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adze/internal/testkit/llmtest"
)

// weighed is what adze tools context --json answers.
type weighed struct {
	Schema, Session, Model, Profile string
	Bytes                           int
	Estimate                        int `json:"estimate_tokens"`
	Sources                         []struct {
		Group, Name   string
		Bytes, Tokens int
	}
	LeftOut []struct{ Kind, Name, Why string } `json:"left_out"`
	Carried []struct{ Kind, Name, Origin, Path, State, Why string }
	Notices []string
}

func (u *user) weighs(args ...string) (w weighed) {
	u.t.Helper()
	r := u.run(append([]string{"context", "--json"}, args...)...).wants(0)
	if err := json.Unmarshal([]byte(r.out), &w); err != nil {
		u.t.Fatalf("%v: %s", err, r.out)
	}
	if w.Schema != "adze.context/1" {
		u.t.Errorf("schema %q", w.Schema)
	}
	return w
}

func (w weighed) source(name string) int {
	for _, s := range w.Sources {
		if s.Name == name {
			return s.Bytes
		}
	}
	return 0
}

// The command counts what the interface counts: that of a stored session is what its run said last,
// and that of a new one is what the first request then holds.
func TestContextIsWhatARunCounts(t *testing.T) {
	u := newUser(t)
	u.file("AGENTS.md", "Speak like a pirate, at length and always.\n")
	model := u.script("-- 1 --\ncall read: {\"path\":\"AGENTS.md\"}\n-- 2 --\ntext: Arr.\n")
	before := u.weighs(model, "what now?")
	estimates := map[string]any{}
	var last any
	for _, l := range u.run("-p", "--output-format=stream-json", model, "what now?").wants(0).lines() {
		if l["type"] == "context" {
			last = l["estimate_tokens"]
			estimates[fmt.Sprint(l["message"])] = l["sources"]
		}
	}
	after := u.weighs("--continue", "--model=script/"+filepath.Join(u.home, "script.txtar"))
	if float64(after.Estimate) != last || after.Session == "" || after.source("read") == 0 || after.source("your messages") != len("what now?") {
		t.Errorf("%+v\nthe run said %v", after, last)
	}
	if before.source("AGENTS.md") < 40 || before.source("your messages") != len("what now?") || before.Session != "" {
		t.Errorf("before: %+v", before)
	}
	// What the first request held is what the next one holds too, byte for byte.
	for _, name := range []string{"prompt", "AGENTS.md", "environment", "bash", "edit"} {
		if b, a := before.source(name), after.source(name); b == 0 && name != "bash" || name != "read" && a != b {
			t.Errorf("%s: %d bytes before, %d after", name, b, a)
		}
	}
	u.run("context", "--continue", "--session", "x").wants(2, "exclude each other")
	u.run("context", "--session", "nope").wants(2)
	u.run("context").wants(0, "AGENTS.md", "no model is chosen", "about ")
}

// Looking starts nothing and writes nothing, also where no model is there or it cannot be used.
func TestContextLooksOnly(t *testing.T) {
	u := newUser(t)
	u.file(".claude/settings.json", `{"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"touch ran"}]}]}}`)
	before := u.tree()
	u.configure(`{"model":"anthropic/claude-sonnet-4-5"}`)
	w := u.weighs()
	if len(w.Notices) == 0 || w.Model != "anthropic/claude-sonnet-4-5" || w.Profile != "coder" {
		t.Errorf("%+v", w)
	}
	if u.tree() != before {
		t.Errorf("the workspace changed: %s", u.tree())
	}
	if _, err := os.Stat(filepath.Join(u.home, "state")); err == nil {
		t.Error("a state folder was made")
	}
	if r := u.run("context"); strings.Contains(r.out, "\x1b") {
		t.Errorf("%q", r.out)
	}
}

// What is not known of a server that nobody asked is said; a session whose run asked it has the
// tools of that run.
func TestContextTellsThatAServerIsNotKnownYet(t *testing.T) {
	u := newUser(t)
	s := startOllama(t, u, &llmtest.OllamaServer{Write: always("It is fine.")})
	says := func(args ...string) (bool, string) {
		w := u.weighs(append(args, "--model", "openai/qwen:7b")...)
		return strings.Contains(fmt.Sprint(w.Notices), "is not known before a run asks it"), w.Profile
	}
	if said, profile := says(); !said || len(s.Asked()) > 0 {
		t.Errorf("said %v, profile %s, asked %d times", said, profile, len(s.Asked()))
	}
	u.run("-p", "--model", "openai/qwen:7b", "hi").wants(0)
	if said, profile := says("--continue"); said || profile != "local" {
		t.Errorf("behind a run: said %v, profile %s", said, profile)
	}
}

// A small model is shown some of the tools; the rest is named with the reason.
func TestContextTellsWhatIsLeftOut(t *testing.T) {
	u := newUser(t)
	u.env = append(u.env, "LLAMACPP_BASE_URL=http://127.0.0.1:1/v1")
	w := u.weighs("--model", "llamacpp/x.gguf", "look at the git status")
	names := map[string]bool{}
	for _, l := range w.LeftOut {
		if l.Kind != "tool" || l.Why == "" || w.source(l.Name) != 0 {
			t.Errorf("%+v", l)
		}
		names[l.Name] = true
	}
	if len(names) < 3 || w.Profile != "local" || w.Bytes > 6000 || w.source("git_status") == 0 {
		t.Errorf("left out %v of %+v", names, w)
	}
}

// Of each skill and agent it says what the request holds of it, and weighs their indexes apart, as
// the run and /context do.
func TestContextTellsWhatBecomesOfSkillsAndAgents(t *testing.T) {
	u, home := homed(t)
	home(".claude/skills/pdf/SKILL.md", pdfSkill)
	home(".claude/agents/critic.md", "---\nname: critic\ndescription: finds faults\ncolor: red\n---\nFind faults.\n")
	u.file(".claude/skills/pdf/SKILL.md", pdfSkill)
	u.file(".claude/skills/mine/SKILL.md", "---\ndescription: d\ndisable-model-invocation: true\n---\nx\n")
	u.file(".claude/agents/critic.md", "---\nname: critic\ndescription: of the project\n---\nFind faults.\n")
	u.file(".adze/agents/lead.md", "---\ndescription: leads\nmode: primary\n---\nx\n")
	u.file(".adze/agents/bad.md", "---\ndescription: x\ndisable: true\n---\nx\n")
	model := u.script("-- 1 --\ncall skill: {\"name\":\"pdf\"}\n-- 2 --\ntext: Read.\n")
	states := func(w weighed) map[string]string {
		out := map[string]string{}
		for _, c := range w.Carried {
			out[c.Kind+" "+c.Path] = c.State
			if c.Why == "" || c.Origin == "built-in" {
				t.Errorf("%+v", c)
			}
		}
		return out
	}
	before := u.weighs(model, "go")
	want := map[string]string{"skill ~/.claude/skills/pdf/SKILL.md": "described", "skill .claude/skills/pdf/SKILL.md": "shadowed", "skill .claude/skills/mine/SKILL.md": "unused",
		"agent ~/.claude/agents/critic.md": "described", "agent .claude/agents/critic.md": "shadowed", "agent .adze/agents/lead.md": "unused", "agent .adze/agents/bad.md": "broken"}
	if got := states(before); !maps.Equal(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
	var counted any
	for _, l := range u.run("-p", "--output-format=stream-json", model, "go").wants(0).lines() {
		if l["type"] == "context" {
			counted = l["estimate_tokens"]
		}
	}
	after := u.weighs("--continue", "--model=script/"+filepath.Join(u.home, "script.txtar"))
	if want["skill ~/.claude/skills/pdf/SKILL.md"] = "used"; !maps.Equal(states(after), want) || float64(after.Estimate) != counted {
		t.Errorf("after: %v, %d tokens; the run said %v", states(after), after.Estimate, counted)
	}
	// The stored session has the prompt that was sent, and the command made the other one itself.
	for _, source := range []string{"skills", "agents"} {
		if before.source(source) == 0 || before.source(source) != after.source(source) {
			t.Errorf("%s weigh %d bytes before and %d after", source, before.source(source), after.source(source))
		}
	}
}
