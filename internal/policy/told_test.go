package policy

import (
	"context"
	"strings"
	"testing"

	"adze/tool"
)

// ownProcess follows /proc/self as the kernel does.
type ownProcess struct{}

func (ownProcess) Judge(name string) (Place, error) {
	return Place{Abs: strings.Replace(name, "/proc/self", "/proc/4711", 1), Outside: true, Named: &Place{Abs: name, Outside: true}}, nil
}

// TestADenialNamesNoProcess: a model that is refused a file of adze's own process does not learn
// its number.
func TestADenialNamesNoProcess(t *testing.T) {
	for _, c := range []struct {
		mode Mode
		rule string
	}{{AskFirst, "allow read(work:**)"}, {Plan, "allow read(work:**)"}, {Yolo, "deny read(abs:/proc/**)"}, {Edits, "ask read(**/environ)"}} {
		r, err := parseLine(CommandLine, c.rule)
		if err != nil {
			t.Fatal(err)
		}
		p, err := New(Options{Mode: c.mode, Rules: []Rule{r}, Paths: ownProcess{}, Home: "/home/me"})
		if err != nil {
			t.Fatal(err)
		}
		q := tool.Question{Needs: []tool.Need{{Permission: tool.Read, Target: "/proc/self/environ"}}}
		if d := decide(t, p, q); d.Allow || !strings.Contains(d.Reason, "/proc/self/environ") || strings.Contains(d.Reason, "4711") {
			t.Errorf("%s with %s: %+v", c.mode, c.rule, d)
		}
	}
}

// What a user wrote into a call themselves is not put to them again; a deny holds for it as for any
// other.
func TestAChangedCallIsNotAskedAgain(t *testing.T) {
	asked := 0
	p := newPolicy(t, AskFirst, func(_ context.Context, q tool.Question, _ Prompt) (Answer, error) {
		asked++
		return Answer{Choice: Once, Change: &tool.Change{Arguments: "{}"}}, nil
	}, "deny execute(rm **)")
	need := func(command string) []tool.Need { return []tool.Need{{Permission: tool.Execute, Target: command}} }
	if d := decide(t, p, tool.Question{Needs: need("make")}); !d.Allow || d.Change == nil || asked != 1 {
		t.Errorf("%+v after %d questions", d, asked)
	}
	if d := decide(t, p, tool.Question{Needs: need("make all"), Amended: true}); !d.Allow || d.Change != nil || asked != 1 {
		t.Errorf("%+v after %d questions", d, asked)
	}
	if d := decide(t, p, tool.Question{Needs: need("rm all"), Amended: true}); d.Allow || asked != 1 {
		t.Errorf("%+v after %d questions", d, asked)
	}
}
