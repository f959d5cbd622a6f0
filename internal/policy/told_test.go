package policy

import (
	"strings"
	"testing"

	"adze/tool"
)

// ownProcess follows /proc/self as the kernel does.
type ownProcess struct{}

func (ownProcess) Judge(name string) (Place, error) {
	return Place{Abs: strings.Replace(name, "/proc/self", "/proc/4711", 1), Outside: true, Named: &Place{Abs: name, Outside: true}}, nil
}

// TestADenialNamesNoProcess: a model that is refused a file of adze's own process does not learn its number.
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
