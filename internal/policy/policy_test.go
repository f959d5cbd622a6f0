package policy

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"adze/tool"
)

// places is a workspace at /w of which nothing exists. A link and a loop are written in.
type places struct{}

func (places) Judge(name string) (Place, error) {
	if name == "broken" {
		return Place{}, errors.New("broken: too many links; they probably form a circle")
	}
	abs := name
	if !strings.HasPrefix(name, "/") {
		abs = "/w/" + name
	}
	abs = path.Clean(strings.Replace(abs, "/link-to-keys", "/keys", 1))
	rel, inside := strings.CutPrefix(abs+"/", "/w/")
	rel = path.Clean("./" + rel)
	return Place{Abs: abs, Rel: rel, Outside: !inside, Protected: strings.Contains(abs+"/", "/.git/")}, nil
}

func newPolicy(t testing.TB, mode Mode, ask Asker, lines ...string) *Policy {
	t.Helper()
	var rules []Rule
	for _, line := range lines {
		r, err := parseLine(CommandLine, line)
		if err != nil {
			t.Fatal(err)
		}
		rules = append(rules, r)
	}
	p, err := New(Options{Mode: mode, Rules: rules, Paths: places{}, Home: "/home/me", Ask: ask})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func lines(text string) []string {
	text = strings.TrimSuffix(text, "\n")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// TestCases runs the tables under testdata: rules, then for each mode lines of an effect and a
// need. A line in quotes is a Go string. In commands the need is the command itself.
func TestCases(t *testing.T) {
	files, err := filepath.Glob("testdata/*/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal(len(files), err)
	}
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			runCases(t, txtar.Parse(data), strings.Contains(name, "/commands/"))
		})
	}
}

func runCases(t *testing.T, a *txtar.Archive, commands bool) {
	rules := lines(string(a.Files[0].Data))
	for _, f := range a.Files[1:] {
		p := newPolicy(t, Mode(f.Name), nil, rules...)
		for _, line := range lines(string(f.Data)) {
			if strings.HasPrefix(line, `"`) {
				text, err := strconv.Unquote(line)
				if err != nil {
					t.Fatal(line, err)
				}
				line = text
			}
			want, target, _ := strings.Cut(line, "\t")
			n := tool.Need{Permission: tool.Execute, Target: target}
			if !commands {
				kind, name, _ := strings.Cut(target, " ")
				n = tool.Need{Permission: tool.Permission(kind), Target: name}
			}
			checkCase(t, p, n, Effect(want))
		}
	}
}

// checkCase compares the verdict, and that Decide draws the right conclusion when nobody is there.
func checkCase(t *testing.T, p *Policy, n tool.Need, want Effect) {
	t.Helper()
	v := p.judge(p.Mode(), n)
	if v.effect != want {
		t.Errorf("mode %s: %s %q: got %s, want %s (%s)", p.Mode(), n.Permission, n.Target, v.effect, want, v.reason)
	}
	d, err := p.Decide(t.Context(), tool.Question{Needs: []tool.Need{n}})
	if err != nil || d.Allow != (v.effect == Allow) || d.Asked != (v.effect == Ask) {
		t.Errorf("%q is %s, decided as %+v, %v", n.Target, v.effect, d, err)
	}
	if !d.Allow && (d.Reason == "" || d.Need == nil || strings.HasSuffix(d.Reason, ".")) {
		t.Errorf("%q: a denial without a proper reason or need: %+v", n.Target, d)
	}
}

// Mended, unchecked and text calls pass the same judgement as native ones.
func TestOriginGainsNothing(t *testing.T) {
	for _, mode := range Modes() {
		p := newPolicy(t, Mode(mode), nil, "allow execute(ls)", "deny write(b)")
		for _, n := range []tool.Need{{Permission: tool.Execute, Target: "ls"}, {Permission: tool.Execute, Target: "id"},
			{Permission: tool.Write, Target: "a"}, {Permission: tool.Write, Target: "b"}, {Permission: tool.Network, Target: "a.b"}} {
			native := decide(t, p, tool.Question{Needs: []tool.Need{n}, Origin: tool.Native, Validated: true})
			for _, q := range []tool.Question{{Repaired: true, Validated: true}, {Origin: tool.Alias}, {Origin: "text"}, {}} {
				q.Needs = []tool.Need{n}
				if d := decide(t, p, q); d.Allow && !native.Allow {
					t.Errorf("mode %s: %v is allowed for %+v", mode, n, q)
				}
			}
		}
	}
}

// parseLine reads "deny write(**/*.lock)".
func parseLine(layer Layer, line string) (Rule, error) {
	effect, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	switch e := Effect(effect); e {
	case Deny, Ask, Allow:
		return ParseRule(e, layer, rest)
	}
	return Rule{}, fmt.Errorf("rule %q: a rule begins with deny, ask or allow", line)
}
