package run

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"adze/internal/config"
	"adze/internal/files/workspace"
	"adze/internal/llm/script"
	"adze/internal/policy"
	"adze/internal/policy/policyconfig"
	projectagents "adze/internal/project/agents"
	"adze/internal/sandbox/proc"
	"adze/internal/sessiondb"
	"adze/internal/web/websearch"
	"adze/session"
	"adze/tool"
	"adze/toolset"
)

// depths is how deep the subagents of the matrix work: 0 is the main conversation.
const depths = 2

// matrix is one mode: every tool is called at every depth by every origin, and what meets the gate
// is written down.
type matrix struct {
	t    *testing.T
	mode policy.Mode
	root *workspace.Root
	set  *tool.Set
	*lender

	mu   sync.Mutex
	met  map[string][]tool.Decision // by depth, origin and tool
	asks map[string][]tool.Need
}

// Decide is the one gate: it writes down what the policy says, and lets nothing run but what starts
// a subagent and, where the policy does, what loads a skill.
func (m *matrix) Decide(ctx context.Context, q tool.Question) (tool.Decision, error) {
	rules, err := policyconfig.New(config.Config{}, policyconfig.Flags{Mode: string(m.mode)}, policyconfig.RunPaths{Root: m.root, ReadableFolders: m.shelf.ReadableFolders(m.root.Dir())}, nil)
	if err != nil {
		return tool.Decision{}, err
	}
	d, err := rules.Decide(ctx, q)
	m.mu.Lock()
	defer m.mu.Unlock()
	key := cell(depthOf(q.Agent), q.Origin, q.Tool.Name)
	if at := m.touched(q); at != "" {
		key = cell(depthOf(q.Agent), fromSkill, q.Tool.Name+" "+at)
	}
	m.met[key], m.asks[key] = append(m.met[key], d), q.Needs
	switch {
	case q.Tool.Name == "task":
		return tool.Decision{Allow: true}, nil
	case q.Tool.Name == "skill":
		return d, err
	}
	return tool.Decision{Reason: "written down"}, err
}

func cell(depth int, o tool.Origin, name string) string {
	return fmt.Sprintf("%d %s %s", depth, o, name)
}

func depthOf(agent string) int {
	if agent == "" {
		return 0
	}
	return 1
}

// hooks are those of the run: they have "hooked" be "there" wherever an argument says it.
func (m *matrix) hooks(_ context.Context, at session.Moment) tool.Ruling {
	if at.Event != session.HookBefore || !strings.Contains(string(at.Look.Arguments), "hooked") {
		return tool.Ruling{}
	}
	changed := strings.ReplaceAll(string(at.Look.Arguments), "hooked", "there")
	if err := at.Look.Change(json.RawMessage(changed), "changed"); err != nil {
		m.t.Errorf("%s: %v", at.Look.Tool, err)
	}
	return tool.Ruling{}
}

// calls are every tool's, as the model makes them and once more where a hook can change one.
func (m *matrix) calls(depth int) (steps string, cells []string) {
	for _, d := range m.set.Definitions() {
		if d.Name == "task" || d.Name == "tool_search" && depth > 0 { // which no subagent has
			continue
		}
		args := m.valid(d)
		steps += "call " + d.Name + ": " + args + "\n"
		cells = append(cells, cell(depth, tool.Native, d.Name))
		if changed := strings.ReplaceAll(args, "there", "hooked"); changed != args {
			steps += "call " + d.Name + ": " + changed + "\n"
			cells = append(cells, cell(depth, tool.FromHook, d.Name))
		}
	}
	if depth+1 < depths {
		steps += fmt.Sprintf("call task: {\"description\":\"d%d\",\"prompt\":\"p\",\"agent\":\"general\"}\n", depth+1)
		cells = append(cells, cell(depth, tool.Native, "task"))
	}
	return steps, cells
}

func (m *matrix) valid(d tool.Definition) string {
	switch d.Name {
	case "bash":
		return `{"command":"touch there"}`
	case "webfetch":
		return `{"url":"https://nowhere.invalid/there"}`
	case "skill":
		return `{"name":"there"}`
	case "edit":
		return `{"path":"there","old_string":"a","new_string":"b"}`
	}
	return validCall(m.t, d)
}

// play runs the conversation, and returns the cells that its calls must have met the gate in.
func (m *matrix) play() (want []string) {
	m.t.Helper()
	text := "# every tool\n"
	for depth := range depths {
		steps, cells := m.calls(depth)
		want = append(want, cells...)
		head := ""
		if depth > 0 {
			head = fmt.Sprintf("general: d%d: ", depth)
		}
		led, cells := m.led(depth)
		want = append(want, cells...)
		text += "-- " + head + "1 --\n" + steps + "-- " + head + "2 --\n" + led + "-- " + head + "3 --\ntext: done\n"
	}
	var main *session.Session
	logs := sessiondb.NewMemory()
	common := session.Config{
		Identity: session.Identity{Start: session.Start{Version: "test", System: "you are a test"}},
		Requests: session.Requests{Provider: script.New(script.Options{Script: []byte(text), Name: "matrix"}), Model: "m"},
		Calls:    session.Calls{Gate: m},
		Storage:  session.Storage{Store: logs},
		Turns:    session.Turns{Hooks: m.hooks},
	}
	agents := projectagents.New(0, func() (projectagents.Config, error) {
		return projectagents.Config{Session: common, Budget: func() *session.Budget { return main.Budget() },
			Tools: func(ctx context.Context, _ string) (*tool.Set, func(), error) {
				return m.catalogue(nil), func() {}, nil
			}}, nil
	})
	m.set = m.catalogue(agents)
	own := common
	own.ID, own.Tools = "main", m.set
	main = session.New(own)
	r := main.Prompt(m.t.Context(), session.Input{Text: "a command", Compose: func(_ context.Context, run func(tool.RawCall) tool.Outcome) (string, error) {
		for _, d := range m.set.Definitions() {
			if d.Name == "task" {
				continue
			}
			want = append(want, cell(0, tool.FromCommand, d.Name))
			if o := run(tool.RawCall{Name: d.Name, Arguments: m.valid(d), Origin: tool.FromCommand}); o.Status != endOf(d.Name) {
				m.t.Errorf("%s of a command is %s: %s", d.Name, o.Status, o.Output)
			}
		}
		return "go", nil
	}})
	if r.Cause != session.CauseDone {
		m.t.Fatalf("%s: %s", r.Cause, r.Message)
	}
	m.outcomes(logs)
	return want
}

// outcomes holds every stored outcome to one judgement: nothing ended otherwise than the gate said.
func (m *matrix) outcomes(logs *sessiondb.Memory) {
	m.t.Helper()
	heads, err := logs.List(m.t.Context())
	if err != nil || len(heads) != depths {
		m.t.Fatalf("%d sessions, %v", len(heads), err)
	}
	for _, h := range heads {
		entries, err := logs.Load(m.t.Context(), h.ID)
		if err != nil {
			m.t.Fatal(err)
		}
		for _, e := range entries {
			var o tool.Outcome
			if e.Type != session.OutcomeEntry {
				continue
			}
			if err := json.Unmarshal(e.Data, &o); err != nil {
				m.t.Fatal(err)
			}
			if o.Tool != "task" && o.Status != endOf(o.Tool) || len(o.Record.Decisions) != 1 {
				m.t.Errorf("%s by %q: %s after %d decisions: %s", o.Tool, o.Record.Agent, o.Status, len(o.Record.Decisions), o.Output)
			}
		}
	}
}

// noEngine is a search engine that nobody reaches.
type noEngine struct{}

func (noEngine) Name() string    { return "none" }
func (noEngine) Address() string { return "https://nowhere.invalid" }
func (noEngine) Search(context.Context, string, int) ([]websearch.Result, error) {
	return nil, nil
}

// catalogue is every tool that a run can have, of one agent.
func (m *matrix) catalogue(tasks toolset.Tasks) *tool.Set {
	m.t.Helper()
	dir := m.root.Dir()
	shell := toolset.NewShell(proc.Supervisor{}, []string{"PATH=" + os.Getenv("PATH")})
	m.t.Cleanup(shell.Close)
	declared := &toolset.Declared{Dir: filepath.Join(m.t.TempDir())}
	if err := os.WriteFile(filepath.Join(declared.Dir, "touch_it.json"), []byte(declaredTouch), 0o600); err != nil {
		m.t.Fatal(err)
	}
	registry, err := toolset.New(toolset.Deps{Root: m.root, Shell: shell, Declared: declared, Tasks: tasks, Skills: m.shelf,
		Search: noEngine{}, Inquire: func(context.Context, toolset.Inquiry) (string, error) { return "", nil }})
	if err != nil || len(declared.Names) != 1 {
		m.t.Fatal(err, declared.Mistakes)
	}
	set, err := registry.Tools(m.t.Context(), tool.Init{Workspace: dir, Directory: dir, Cwd: dir})
	if err != nil {
		m.t.Fatal(err)
	}
	return set
}

// expected is what the mode says of needs where no rule speaks and nobody is there, said once more
// than in the policy.
func (m *matrix) expected(needs []tool.Need) string {
	out, mode := "allow", m.mode
	for _, n := range needs {
		changes := n.Permission == tool.Write || n.Permission == tool.Execute
		exact := n.Permission == tool.Read && n.Reach != tool.Anything || n.Reach == tool.OwnStart
		written := n.Permission == tool.Write && n.Reach == "" && (mode == policy.Edits || mode == policy.Auto)
		if at := m.beside(n.Target); at != "" {
			exact, written = n.Permission == tool.Read && lent(at), false
		}
		switch {
		case mode == policy.Plan && changes:
			return "deny"
		case mode != policy.Yolo && !exact && !written:
			out = "ask"
		}
	}
	return out
}

func said(d tool.Decision) string {
	switch {
	case d.Allow:
		return "allow"
	case d.Asked:
		return "ask"
	}
	return "deny"
}

// Every tool, at every depth of agents, in every mode, called by the model, changed by a hook, by a
// command that the user gave, or as a skill of theirs says, meets the one gate exactly once, as
// what it is to run, and is judged as the mode says.
func TestEveryCallPassesOneGate(t *testing.T) {
	for _, name := range policy.Modes() {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "there"), []byte("a\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			root, err := workspace.Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer root.Close()
			m := &matrix{t: t, mode: policy.Mode(name), root: root, lender: newLender(t, dir), met: map[string][]tool.Decision{}, asks: map[string][]tool.Need{}}
			m.set = m.catalogue(nil)
			want := m.play()
			for _, key := range want {
				if n := len(m.met[key]); n != 1 {
					t.Errorf("%s met the gate %d times", key, n)
					continue
				}
				if got, should := said(m.met[key][0]), m.expected(m.asks[key]); got != should {
					t.Errorf("%s needs %+v and is judged %s, want %s (%s)", key, m.asks[key], got, should, m.met[key][0].Reason)
				}
				for _, n := range m.asks[key] {
					if strings.Contains(n.Target, "hooked") {
						t.Errorf("%s was judged as what it was: %+v", key, n)
					}
				}
			}
			for key := range m.met {
				if !slices.Contains(want, key) {
					t.Errorf("%s met the gate, and nobody made it", key)
				}
			}
			if len(want) < 3*depths*len(m.set.Names())/2 {
				t.Errorf("only %d calls of %d tools", len(want), len(m.set.Names()))
			}
			left, err := os.ReadDir(dir)
			if err != nil || len(left) != 1 {
				t.Errorf("the workspace holds %v, %v", left, err)
			}
		})
	}
}
