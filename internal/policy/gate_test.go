package policy

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"adze/tool"
)

func run(text string) tool.Question {
	return tool.Question{Call: "c", Needs: []tool.Need{{Permission: tool.Execute, Target: text}}}
}

func decide(t *testing.T, p *Policy, q tool.Question) tool.Decision {
	t.Helper()
	d, err := p.Decide(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// script answers in turn and keeps what it was asked.
type answers struct {
	answers []Answer
	prompts []Prompt
}

func (s *answers) ask(_ context.Context, _ tool.Question, p Prompt) (Answer, error) {
	s.prompts = append(s.prompts, p)
	if len(s.answers) == 0 {
		return Answer{}, errors.New("asked once too often")
	}
	a := s.answers[0]
	s.answers = s.answers[1:]
	return a, nil
}

func TestNoNeedsNoPermission(t *testing.T) {
	if d := decide(t, newPolicy(t, Plan, nil, "deny write"), tool.Question{}); !d.Allow || d.Asked {
		t.Errorf("%+v", d)
	}
}

func TestOneDenyIsEnough(t *testing.T) {
	p := newPolicy(t, Yolo, nil, "deny write(b)")
	d := decide(t, p, tool.Question{Needs: []tool.Need{{Permission: tool.Write, Target: "a"}, {Permission: tool.Write, Target: "b"}}})
	if d.Allow || d.Need.Target != "b" || d.Rule != "deny write(b)" || d.Layer != "command line" {
		t.Errorf("%+v", d)
	}
}

func TestDecisionNamesItsRule(t *testing.T) {
	p := newPolicy(t, Edits, nil, "allow execute(go test **)")
	for _, c := range []struct {
		need tool.Need
		want tool.Decision
	}{
		{tool.Need{Permission: tool.Execute, Target: "go test ./..."}, tool.Decision{Allow: true, Rule: "allow execute(go test **)", Layer: "command line", ByRule: true,
			Reading: &tool.CommandReading{Argv: []string{"go", "test", "./..."}}}},
		{tool.Need{Permission: tool.Write, Target: "a"}, tool.Decision{Allow: true, Layer: "mode edits"}},
		{tool.Need{Permission: "fly", Target: "a"}, tool.Decision{Layer: "built in", Need: &tool.Need{Permission: "fly", Target: "a"},
			Reason: `there is no permission "fly"; this tool is declared wrongly, use another`}},
	} {
		if d := cmp.Diff(c.want, decide(t, p, tool.Question{Needs: []tool.Need{c.need}})); d != "" {
			t.Errorf("%v (-want +got):\n%s", c.need, d)
		}
	}
}

func TestAnswers(t *testing.T) {
	s := &answers{answers: []Answer{{Choice: No, Reason: "not now"}, {Choice: Once}, {Choice: Session}}}
	p := newPolicy(t, AskFirst, s.ask)
	no := decide(t, p, run("go build"))
	if no.Allow || !no.Asked || no.Reason != "the person said no: not now" || no.Need.Target != "go build" {
		t.Errorf("no: %+v", no)
	}
	if once := decide(t, p, run("go build")); !once.Allow || !once.Asked || once.Layer != "person" {
		t.Errorf("once: %+v", once)
	}
	if granted := decide(t, p, run("go build")); !granted.Allow || !granted.Asked || granted.Rule != "allow execute(go build)" {
		t.Errorf("session: %+v", granted)
	}
	for _, same := range []string{"go build", "go  'build'", "go build && go build"} {
		if d := decide(t, p, run(same)); !d.Allow || d.Asked || d.Layer != "session" {
			t.Errorf("%q after the grant: %+v", same, d)
		}
	}
	want := Prompt{Items: []Item{{Need: run("go build").Needs[0], Target: "go build", Reason: "the command `go build` needs approval"}}, Offers: s.prompts[0].Offers}
	if d := cmp.Diff(want, s.prompts[0], cmpopts.IgnoreUnexported(Offer{})); d != "" {
		t.Errorf("prompt (-want +got):\n%s", d)
	}
	for _, other := range []tool.Question{run("go build x"), run("go build; x"), run("go build >x"),
		{Needs: []tool.Need{{Permission: tool.Execute, Target: "go build", Dir: "/elsewhere"}}}} {
		if _, err := p.Decide(t.Context(), other); err == nil {
			t.Errorf("%v passed by the grant for another", other.Needs)
		}
	}
}

func TestDenyAndModeOutweighGrants(t *testing.T) {
	s := &answers{answers: []Answer{{Choice: Session}}}
	p := newPolicy(t, AskFirst, s.ask)
	if d := decide(t, p, run("go build")); !d.Allow {
		t.Fatalf("%+v", d)
	}
	if err := p.SetMode(Plan); err != nil {
		t.Fatal(err)
	}
	if d := decide(t, p, run("go build")); d.Allow {
		t.Errorf("in plan: %+v", d)
	}
	if p.SetMode("yes") == nil || p.Mode() != Plan {
		t.Error("an unknown mode was taken")
	}
}

func TestWhatMayLast(t *testing.T) {
	for text, want := range map[string]string{
		"go test ./...":                  "allow execute(go test ./...)",
		"make a && git commit -m 'a b*'": "allow execute(make a) allow execute(git commit -m 'a b*')",
		"make \"it's\" x":                `allow execute(make 'it'"'"'s' x)`,
		"nice ls":                        "", "sudo ls": "", "sh x": "", "/bin/bash x": "", "python3.13 x": "", "node -e 1": "",
		"npx x": "", "npm exec x": "", "npm test": "allow execute(npm test)", "env": "", "xargs ls": "", "find . -exec ls {} +": "",
		"uvx x": "", "eval ls": "", "ls $A": "", "ls > x": "allow write(work:x)", "ls | sh": "", "ls && sudo ls": "",
	} {
		e := newPolicy(t, AskFirst, nil).Explain(text, "")
		if got := strings.Join(e.Session, " "); got != want {
			t.Errorf("%s: offers %q, want %q", text, got, want)
		}
		for _, rule := range e.Session {
			if p := newPolicy(t, AskFirst, nil, e.Session...); p.Explain(text, "").Effect != Allow {
				t.Errorf("%s: the rule %q that is shown does not allow it", text, rule)
			}
		}
	}
}

func TestFileAndHostGrants(t *testing.T) {
	for need, want := range map[tool.Need]string{
		{Permission: tool.Write, Target: "a[1]*.go"}:        `allow write(work:a\[1\]\*.go)`,
		{Permission: tool.Read, Target: "/etc/hosts"}:       "allow read(abs:/etc/hosts)",
		{Permission: tool.Network, Target: "https://a.b/c"}: "allow network(https://a.b:443)",
	} {
		s := &answers{answers: []Answer{{Choice: Session}}}
		p := newPolicy(t, AskFirst, s.ask)
		q := tool.Question{Needs: []tool.Need{need}}
		if d := decide(t, p, q); d.Rule != want {
			t.Errorf("%v: %+v", need, d)
		}
		if d := decide(t, p, q); !d.Allow || d.Asked {
			t.Errorf("%v after the grant: %+v", need, d)
		}
		if d := decide(t, newPolicy(t, AskFirst, nil, want), q); !d.Allow {
			t.Errorf("%v: the rule that is shown does not allow it: %+v", need, d)
		}
	}
}

func TestAskRuleAsksEachTime(t *testing.T) {
	s := &answers{answers: []Answer{{Choice: Session}, {Choice: Session}}}
	p := newPolicy(t, Edits, s.ask, "ask write(a)", "allow write")
	for range 2 {
		if d := decide(t, p, tool.Question{Needs: []tool.Need{{Permission: tool.Write, Target: "a"}}}); !d.Allow || !d.Asked {
			t.Errorf("%+v", d)
		}
	}
	if len(s.prompts) != 2 || len(s.prompts[0].Offers) > 0 {
		t.Errorf("prompts %+v", s.prompts)
	}
}

func TestOneQuestionForAllNeeds(t *testing.T) {
	s := &answers{answers: []Answer{{Choice: Once}}}
	p := newPolicy(t, AskFirst, s.ask)
	q := tool.Question{Needs: []tool.Need{{Permission: tool.Read, Target: "a"}, {Permission: tool.Write, Target: "a"}, {Permission: tool.Execute, Target: "ls $A"}}}
	if d := decide(t, p, q); !d.Allow {
		t.Errorf("%+v", d)
	}
	if len(s.prompts) != 1 || len(s.prompts[0].Items) != 2 || len(s.prompts[0].Offers) > 0 {
		t.Errorf("prompts %+v", s.prompts)
	}
}

func TestFailuresAreDenials(t *testing.T) {
	q := run("make")
	broken := func(context.Context, tool.Question, Prompt) (Answer, error) {
		return Answer{}, errors.New("no terminal")
	}
	if d, err := newPolicy(t, AskFirst, broken).Decide(t.Context(), q); err == nil || d.Allow {
		t.Errorf("failing asker: %+v %v", d, err)
	}
	vague := func(context.Context, tool.Question, Prompt) (Answer, error) { return Answer{}, nil }
	if d, err := newPolicy(t, AskFirst, vague).Decide(t.Context(), q); err == nil || d.Allow {
		t.Errorf("empty answer: %+v %v", d, err)
	}
	blind, err := New(Options{Mode: Yolo})
	if err != nil {
		t.Fatal(err)
	}
	if d := decide(t, blind, tool.Question{Needs: []tool.Need{{Permission: tool.Read, Target: "a"}}}); d.Allow {
		t.Errorf("without paths: %+v", d)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if d, err := newPolicy(t, Yolo, nil).Decide(ctx, q); !errors.Is(err, context.Canceled) || d.Allow {
		t.Errorf("called off: %+v %v", d, err)
	}
	during := newPolicy(t, AskFirst, nil)
	ctx, cancel = context.WithCancel(t.Context())
	during.options.Ask = func(context.Context, tool.Question, Prompt) (Answer, error) {
		cancel()
		return Answer{Choice: Session}, nil
	}
	if d, err := during.Decide(ctx, q); !errors.Is(err, context.Canceled) || d.Allow {
		t.Errorf("called off while asked: %+v %v", d, err)
	}
}

// Ten calls ask the same at once: one question, and its answer serves all.
func TestAGrantAnswersTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		release := make(chan struct{})
		p := newPolicy(t, AskFirst, func(context.Context, tool.Question, Prompt) (Answer, error) {
			asked++ // the race detector tells when two are asked at a time
			<-release
			return Answer{Choice: Session}, nil
		})
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() {
				if d, err := p.Decide(t.Context(), run("go build")); err != nil || !d.Allow {
					t.Errorf("%+v %v", d, err)
				}
			})
		}
		synctest.Wait() // the first is asked, the others queue
		gone, cancel := context.WithCancel(t.Context())
		wg.Go(func() {
			if _, err := p.Decide(gone, run("go vet")); !errors.Is(err, context.Canceled) {
				t.Errorf("called off in the queue: %v", err)
			}
		})
		synctest.Wait()
		cancel()
		synctest.Wait()
		close(release)
		wg.Wait()
		if asked != 1 {
			t.Errorf("asked %d times", asked)
		}
	})
}

func TestToolsThatAreAskedForAsSuch(t *testing.T) {
	unchecked := func(m tool.NoSchemaMode) tool.Definition {
		return tool.Definition{Name: "x", AllowNoSchema: true, NoSchemaMode: m}
	}
	writes := unchecked(tool.NoSchemaReadOnly)
	writes.Permissions = tool.Requires(tool.Write)
	careful := tool.Definition{Name: "x", Safety: tool.Safety{RequiresApproval: true}}
	readA := []tool.Need{{Permission: tool.Read, Target: "a"}}
	writeA := []tool.Need{{Permission: tool.Write, Target: "a"}}
	for _, c := range []struct {
		name  string
		mode  Mode
		tool  tool.Definition
		needs []tool.Need
		want  Effect
	}{
		{"read-only reads", AskFirst, unchecked(tool.NoSchemaReadOnly), readA, Allow},
		{"read-only writes", Yolo, unchecked(tool.NoSchemaReadOnly), writeA, Deny},
		{"read-only fetches", Yolo, unchecked(tool.NoSchemaReadOnly), []tool.Need{{Permission: tool.Network, Target: "a.b"}}, Deny},
		{"read-only is declared to write", Yolo, writes, nil, Deny},
		{"approval reads", Yolo, unchecked(tool.NoSchemaApproval), readA, Ask},
		{"approval needs nothing", Yolo, unchecked(tool.NoSchemaApproval), nil, Ask},
		{"no mode", Yolo, unchecked(""), readA, Ask},
		{"full reads", AskFirst, unchecked(tool.NoSchemaFull), readA, Allow},
		{"full writes", AskFirst, unchecked(tool.NoSchemaFull), writeA, Ask},
		{"careful reads", Edits, careful, readA, Ask},
		{"careful in yolo", Yolo, careful, readA, Allow},
	} {
		p := newPolicy(t, c.mode, nil, "allow read", "allow write(a)")
		if c.name == "full writes" {
			p = newPolicy(t, c.mode, nil)
		}
		d := decide(t, p, tool.Question{Tool: c.tool, Needs: c.needs})
		if d.Allow != (c.want == Allow) || d.Asked != (c.want == Ask) {
			t.Errorf("%s: want %s, got %+v", c.name, c.want, d)
		}
	}
}

// coded is an error with a code, as the path layer makes them.
type coded struct{ code string }

func (c coded) Error() string     { return "links form a circle; name the real file" }
func (c coded) ErrorCode() string { return c.code }

// lost is a path layer that can resolve nothing.
type lost struct{ err error }

func (u lost) Judge(string) (Place, error) { return Place{}, u.err }

// What cannot be read as a path or address is not allowed in any mode, and says that the call is
// wrong.
func TestAMistakeHasItsCode(t *testing.T) {
	for _, mode := range []Mode{AskFirst, Edits, Yolo} {
		for _, c := range []struct {
			need tool.Need
			err  error
			want string
		}{
			{tool.Need{Permission: tool.Read, Target: "a"}, coded{tool.CodeIO}, tool.CodeIO},
			{tool.Need{Permission: tool.Write, Target: "a"}, errors.New("odd"), tool.CodeInvalidArguments},
			{tool.Need{Permission: tool.Network, Target: "http://"}, nil, tool.CodeInvalidArguments},
		} {
			p, err := New(Options{Mode: mode, Paths: lost{c.err}})
			if err != nil {
				t.Fatal(err)
			}
			d := decide(t, p, tool.Question{Needs: []tool.Need{c.need}})
			if d.Allow || d.Asked || d.Code != c.want || d.Reason == "" {
				t.Errorf("%s in mode %s: %+v, want code %s", c.need.Permission, mode, d, c.want)
			}
		}
	}
}
