package policy

import (
	"context"
	"strings"
	"testing"

	"adze/tool"
)

// A denial where nobody is asked names the flag that would allow it, and that flag does.
func TestADenialNamesTheFlag(t *testing.T) {
	for command, want := range map[string]string{
		"go vet ./...":   "not allowed; add --allow 'execute(go vet **)'",
		"python3 x.py":   "not allowed; add --allow 'execute(python3 x.py)'",
		"rm $X":          "not allowed; contains $X, so no rule can cover it; only --permission-mode auto, in a full sandbox, and --yolo run it",
		"go vet && rm a": "not allowed; add --allow 'execute(go vet)' --allow 'execute(rm a)'",
	} {
		d := decide(t, newPolicy(t, AskFirst, nil), run(command))
		if d.Allow || !strings.HasSuffix(d.Reason, want) {
			t.Errorf("%s: %q, want %q", command, d.Reason, want)
		}
		var rules []string
		for _, offer := range d.Offers {
			rules = append(rules, "allow "+offer)
		}
		if len(rules) > 0 && !decide(t, newPolicy(t, AskFirst, nil, rules...), run(command)).Allow {
			t.Errorf("%s is denied with %q", command, rules)
		}
	}
	edit := tool.Question{Needs: []tool.Need{{Permission: tool.Write, Target: "a.go"}}}
	if d := decide(t, newPolicy(t, AskFirst, nil), edit); !strings.HasSuffix(d.Reason, "not allowed; add --allow 'write(work:**)' for all edits, or --allow 'write(a.go)'") {
		t.Errorf("an edit: %q", d.Reason)
	}
}

// The mode edits is offered for what it would allow, and a mode that answers an open question ends
// it.
func TestTheModeAnswersAnOpenQuestion(t *testing.T) {
	edit := tool.Question{Needs: []tool.Need{{Permission: tool.Write, Target: "a.go"}}}
	for mode, allow := range map[Mode]bool{Edits: true, Plan: false} {
		var p *Policy
		p = newPolicy(t, AskFirst, func(ctx context.Context, _ tool.Question, prompt Prompt) (Answer, error) {
			if !prompt.Edits {
				t.Error("the mode edits is not offered")
			}
			if err := p.SetMode(mode); err != nil {
				t.Error(err)
			}
			<-ctx.Done()
			return Answer{}, ctx.Err()
		})
		if d := decide(t, p, edit); d.Allow != allow {
			t.Errorf("%s: %+v", mode, d)
		}
	}
	asker := &answers{answers: []Answer{{Choice: No}}}
	if decide(t, newPolicy(t, AskFirst, asker.ask), run("rm a")); asker.prompts[0].Edits {
		t.Error("the mode edits is offered for a command")
	}
}
