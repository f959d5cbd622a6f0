package policy

import (
	"context"
	"errors"
	"strings"
	"testing"

	"adze/tool"
)

// disk is files by their path.
type disk map[string]string

func (d disk) read(abs string) ([]byte, error) {
	if text, ok := d[abs]; ok {
		return []byte(text), nil
	}
	return nil, errors.New("there is no such file")
}

// A grant of an interpreter or a package holds as long as what it runs is as it was; where none can
// be offered, the question says why.
func TestGrantsAreTiedToWhatRuns(t *testing.T) {
	work := newPolicy(t, AskFirst, nil).dirOf(".")
	for _, c := range []struct {
		command, rule, changed, why string
	}{
		{"python3 x.py", "allow execute(python3 x.py) @", "/x.py", ""},
		{"python3 -u x.py a b", "allow execute(python3 -u x.py a b) @", "/x.py", ""},
		{"bash x.py", "allow execute(bash x.py) @", "/x.py", ""},
		{"npx eslint .", "allow execute(npx eslint .) @", "/node_modules/.bin/eslint", ""},
		{"npx --yes eslint .", "allow execute(npx --yes eslint .) @", "/node_modules/eslint/package.json", ""},
		{"npx eslint@9.1.0 .", "allow execute(npx eslint@9.1.0 .)", "", ""},
		{"uvx ruff@0.4.1 check", "allow execute(uvx ruff@0.4.1 check)", "", ""},
		{"go test ./...", "allow execute(go test ./...)", "", ""},
		{"python3 -m pytest -q", "allow execute(python3 -m pytest -q)", "", ""},
		{"python3 y.py", "", "", "y.py cannot be read, so no rule can be tied to it"},
		{"python3 -c pass", "", "", "python3 -c runs any code, so no rule can cover it"},
		{"python3", "", "", "python3 runs what it reads, so no rule can cover it"},
		{"npx cowsay hi", "", "", "cowsay is not installed here, so npx would fetch its newest version and no rule can cover that; name a version"},
		{"uvx ruff check", "", "", "uvx takes the newest ruff, so no rule can cover it; name a version"},
		{"npx -p a b", "", "", "npx with such options runs any package, so no rule can cover it"},
		{"sudo ls", "", "", "sudo starts other programs, so no rule can cover it"},
		{"for i in a b; do rm $i; done", "allow execute(rm a)", "", ""},
		{"while read -r i; do rm \"$i\"; done < a", "", "", "changes files in a loop, so no rule can cover it"},
		{`echo "$(date)" > $X`, "", "", "contains $X, so no rule can cover it"},
	} {
		files := disk{work + "/x.py": "print(1)", work + "/node_modules/.bin/eslint": "run", work + "/node_modules/eslint/package.json": `{"version":"9.1.0"}`}
		asker := &answers{answers: []Answer{{Choice: Session}, {Choice: No}}}
		p := newPolicy(t, AskFirst, asker.ask)
		p.pins.content = files.read
		decide(t, p, run(c.command))
		prompt := asker.prompts[0]
		if c.why != "" {
			if len(prompt.Offers) > 0 || prompt.NoOffer != c.why {
				t.Errorf("%s: %q %v, want %q", c.command, prompt.NoOffer, prompt.Offers, c.why)
			}
			continue
		}
		if len(prompt.Offers) == 0 || !strings.HasPrefix(prompt.Offers[0].Rules[0], c.rule) || prompt.NoOffer != "" {
			t.Errorf("%s: %+v %q, want %q", c.command, prompt.Offers, prompt.NoOffer, c.rule)
			continue
		}
		if d := decide(t, p, run(c.command)); !d.Allow || len(asker.prompts) != 1 {
			t.Errorf("%s is asked for again: %+v", c.command, d)
		}
		if c.changed == "" {
			continue
		}
		files[work+c.changed] = "changed"
		if d := decide(t, p, run(c.command)); d.Allow || len(asker.prompts) != 2 {
			t.Errorf("%s runs after %s changed: %+v", c.command, c.changed, d)
		}
	}
}

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
