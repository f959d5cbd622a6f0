package policy

import (
	"context"
	"strings"
	"testing"

	"adze/tool"
)

// boxed is a policy of a run whose commands a sandbox holds, or does not.
func boxed(t *testing.T, mode Mode, holds bool, lines ...string) *Policy {
	p := newPolicy(t, mode, nil, lines...)
	p.options.Contained = func(lasting bool) (string, bool) {
		switch {
		case !holds:
			return "", false
		case lasting:
			return "full, live", false
		}
		return "full", true
	}
	return p
}

func TestWhatTheSandboxHoldsIsNotAskedAbout(t *testing.T) {
	caged := func(command string) tool.Need {
		return tool.Need{Permission: tool.Execute, Target: command, Sandboxed: true}
	}
	again := caged("make")
	again.OutsideReason = "it could not reach the host"
	job := caged("npm run dev")
	job.OutlivesCall = true
	loose := tool.Need{Permission: tool.Execute, Target: "make"}
	for name, c := range map[string]struct {
		mode  Mode
		holds bool
		rules []string
		need  tool.Need
		allow bool
		layer Layer
	}{
		"held":                        {Auto, true, nil, caged("make all"), true, Contained},
		"what no rule can allow":      {Auto, true, nil, caged("eval $X"), true, Contained},
		"a job":                       {Auto, true, nil, job, false, ""},
		"a job that a rule allows":    {Auto, true, []string{"allow execute(npm run dev)"}, job, true, User},
		"no sandbox":                  {Auto, false, nil, caged("make all"), false, ""},
		"mode edits":                  {Edits, true, nil, caged("make all"), false, ""},
		"mode ask":                    {AskFirst, true, nil, caged("make all"), false, ""},
		"mode plan":                   {Plan, true, nil, caged("make all"), false, ""},
		"a tool that runs it itself":  {Auto, true, nil, loose, false, ""},
		"a deny":                      {Auto, true, []string{"deny execute(make **)"}, caged("make all"), false, User},
		"a deny that may match":       {Auto, true, []string{"deny execute(rm **)"}, caged("$X all"), false, ""},
		"an ask rule":                 {Auto, true, []string{"ask execute(make **)"}, caged("make all"), false, ""},
		"outside":                     {Auto, true, nil, again, false, ""},
		"outside, though a rule says": {Auto, true, []string{"allow execute(make **)"}, again, false, ""},
		"outside in yolo":             {Yolo, true, nil, again, true, ""},
		"a secret file":               {Auto, true, nil, caged("cat .env"), false, ""},
		"a file that is denied":       {Auto, true, []string{"deny read(**/notes)"}, caged("cat notes"), false, ""},
		"bytes that deceive":          {Auto, true, nil, caged("ls \u202e"), false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := decide(t, boxed(t, c.mode, c.holds, c.rules...), tool.Question{Needs: []tool.Need{c.need}})
			if d.Allow != c.allow {
				t.Fatalf("%+v", d)
			}
			if c.layer == Contained && (d.Layer != string(Contained) || d.Reading == nil || !d.Reading.Sandboxed) {
				t.Errorf("it may run anywhere: %+v", d)
			}
			if c.layer != Contained && d.Reading != nil && d.Reading.Sandboxed {
				t.Errorf("%+v", d)
			}
		})
	}
}

// What the sandbox keeps a git from is told before it runs there, also where a rule allows it.
func TestAGitThatWouldFailInTheSandboxIsAskedForOutside(t *testing.T) {
	for command, leaves := range map[string]bool{
		"git remote add origin https://a.example/x.git":            true,
		"git add -A && git commit -m x && git push -u origin HEAD": true,
		"cd sub && git config user.name me":                        true,
		"git branch -u origin/main":                                true,
		"git config user.name":                                     false,
		"git push":                                                 false,
		"echo git remote add x y":                                  false,
		"git commit -m 'git remote add x y'":                       false,
	} {
		for _, rules := range [][]string{nil, {"allow execute(git **)", "allow execute(cd **)"}} {
			for _, mode := range []Mode{Auto, Edits} {
				d := decide(t, boxed(t, mode, true, rules...), tool.Question{Needs: []tool.Need{{Permission: tool.Execute, Target: command, Sandboxed: true}}})
				told := d.Reading != nil && d.Reading.Leaves != ""
				if want := leaves && mode == Auto; told != want || mode == Auto && !d.Allow {
					t.Errorf("%s, mode %s, rules %v: %+v", command, mode, rules, d)
				}
			}
		}
	}
}

// Leaving the sandbox is allowed for one time: no answer makes it last.
func TestLeavingTheSandboxIsOfferedOnce(t *testing.T) {
	for _, command := range []string{"touch /etc/x", "touch a && make b | tail"} {
		var asked []Prompt
		p := boxed(t, Auto, true)
		p.options.Ask = func(_ context.Context, _ tool.Question, q Prompt) (Answer, error) {
			asked = append(asked, q)
			return Answer{Choice: Once}, nil
		}
		need := tool.Need{Permission: tool.Execute, Target: command, Sandboxed: true, OutsideReason: "in the sandbox it could not write /etc/x"}
		for range 2 {
			if d := decide(t, p, tool.Question{Needs: []tool.Need{need}}); !d.Allow || !d.Asked {
				t.Errorf("%s: %+v", command, d)
			}
		}
		if len(asked) != 2 || len(asked[0].Offers) > 0 {
			t.Errorf("%s: asked %d times, first with %+v", command, len(asked), asked[0].Offers)
		}
	}
}

// Where commands only read in the sandbox, what its words do not say to change files or to need a
// network runs there; the rest is asked about, for a true reason, and what is allowed runs outside.
func TestWhereCommandsOnlyReadTheRestIsAsked(t *testing.T) {
	for name, c := range map[string]struct {
		command, rule string
		job           bool
		outside       string // it failed inside, of that
		open          []string
		layer         Layer  // if empty, it is asked about
		why           string // of the question
	}{
		"a check":                    {command: "go vet ./...", layer: Contained},
		"tests":                      {command: "npm test", layer: Contained},
		"a script":                   {command: "python3 tools/count.py | sort 2>/dev/null", layer: Contained},
		"a deny rule holds there":    {command: "npm test", rule: "deny write(vendor/**)", layer: Contained},
		"a build":                    {command: "make all", why: "`make all` changes files"},
		"a redirection":              {command: "npm test > out.txt", why: "it writes `out.txt`"},
		"an option":                  {command: "sort -o list list", why: "changes files"},
		"a commit":                   {command: "git commit -am x", why: "changes files"},
		"an installation":            {command: "npm install left-pad", why: "needs a network"},
		"behind another program":     {command: "env A=b git push origin main", why: "needs a network"},
		"in a pipeline":              {command: "curl -s https://example.com | tar x", why: "needs a network"},
		"a job":                      {command: "npm test", job: true, why: "goes on in the background"},
		"what a rule allows":         {command: "npm install left-pad", rule: "allow execute(npm install **)", layer: "command line"},
		"a job that a rule allows":   {command: "npm test", rule: "allow execute(npm test)", job: true, layer: "command line"},
		"after it failed":            {command: "npm test", outside: "in the sandbox it could not write x", why: "it could not write x"},
		"after it failed, by a rule": {command: "npm test", rule: "allow execute(npm test)", outside: "in the sandbox it could not write x", layer: "command line"},
		"something is open":          {command: "npm test", open: []string{"signal"}, why: "does not hold signal"},
	} {
		t.Run(name, func(t *testing.T) {
			var rules []string
			if c.rule != "" {
				rules = append(rules, c.rule)
			}
			p := newPolicy(t, Auto, nil, rules...)
			p.options.Contained = func(bool) (string, bool) { return "degraded", len(c.open) == 0 }
			p.options.Gaps = func() (bool, []string) { return true, c.open }
			d := decide(t, p, tool.Question{Needs: []tool.Need{{Permission: tool.Execute, Target: c.command, Sandboxed: true, OutlivesCall: c.job, OutsideReason: c.outside}}})
			switch {
			case c.layer != "":
				if !d.Allow || d.Layer != string(c.layer) || (d.Reading != nil && d.Reading.Sandboxed) != (c.layer == Contained) || d.Reading != nil && d.Reading.Leaves != "" {
					t.Errorf("%+v %+v", d, d.Reading)
				}
			case d.Allow, !strings.Contains(d.Reason, c.why), len(c.open) == 0 && !strings.Contains(d.Reason, "add --allow"):
				t.Errorf("%+v", d)
			}
		})
	}
}
