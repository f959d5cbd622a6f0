package policy

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/policy/script"
	"adze/tool"
)

func TestRulesThatCannotBeRead(t *testing.T) {
	for text, part := range map[string]string{
		"bash(git **)": "execute(git **)", "Bash": "execute", "Edit": "write", "webfetch(a.b)": "network(a.b)", "grep": "read", "wirte": "write",
		"fly": "use one of read, write, execute, network", "": "use one of", "write(": "write it as", "write()": "write it as", "write(a": "write it as",
		"read(/etc/**)": "abs:/etc/**", "read(~/x)": "home:x", "read(abs:x)": "begins with /", "read([)": "not a path pattern", "read(../x)": "not a path pattern",
		"execute(** a)": "comes last", "execute(git*)": "whole word", "execute(a;b)": "quotes", "execute('a)": "not closed", "execute($A)": "quotes",
		"network(a.b/c)": "paths", "network(a.b:x)": "not a port", "network(a*.b)": "not a host", "network(bücher.test)": "xn--", "network(https://)": "missing",
		"network(ftp://a.b)": "http or https", "read(" + strings.Repeat("{a,*}", 20) + ")": "stand for more than 256", "execute(git status\nrm)": "one line",
	} {
		if part == "whole word" {
			part = "* for one word"
		}
		if r, err := ParseRule(Allow, User, text); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%q: %v, %v; want %q", text, r, err, part)
		}
	}
	if _, err := parseLine(User, "permit write"); err == nil {
		t.Error("an unknown effect was taken")
	}
	for _, mode := range []string{"edit", "never", ""} {
		if _, err := ParseMode(mode); err == nil || !strings.Contains(err.Error(), "edits") && !strings.Contains(err.Error(), "ask, auto, plan") {
			t.Errorf("mode %q: %v", mode, err)
		}
	}
}

// A rule in the words of another assistant is told with one that is a rule here, and that matches
// what it matched there.
func TestARuleOfAnotherAssistantIsToldAsOneOfThisOne(t *testing.T) {
	for text, want := range map[string]string{
		"Bash(rm:*)": "execute(rm **)", "Bash(rm *)": "execute(rm **)", "Bash(git push:*)": "execute(git push **)", "bash(go test)": "execute(go test)",
		"Bash(npm run *)": "execute(npm run **)", "Bash(:*)": "execute(**)", "shell(git *)": "execute(git **)", "Edit(./src/**)": "write(work:src/**)",
		"View(~/.ssh/**)": "read(home:.ssh/**)", "Edit(//etc/**)": "write(abs:/etc/**)", "WebFetch(domain:example.com)": "network(example.com)",
		"WebFetch(what is this)": "network(…)", "Bash(a; b)": "execute(…)", "Bash": "execute",
	} {
		_, err := ParseRule(Deny, "config.json", text)
		if err == nil || !strings.HasSuffix(err.Error(), "did you mean "+want+"?") {
			t.Errorf("%s: %v; want %s", text, err, want)
		}
		if strings.Contains(want, "…") {
			continue
		}
		if _, err := ParseRule(Deny, "config.json", want); err != nil {
			t.Errorf("%s is told as what is no rule: %v", text, err)
		}
	}
}

// What a deny forbade there it forbids when it is written as it is told.
func TestADenyTakenOverAsToldDenies(t *testing.T) {
	for text, command := range map[string]string{"Bash(rm:*)": "rm -rf x y", "Bash(git push *)": "git push --force origin main"} {
		_, err := ParseRule(Deny, "config.json", text)
		_, told, _ := strings.Cut(err.Error(), "did you mean ")
		p := newPolicy(t, Yolo, nil, "deny "+strings.TrimSuffix(told, "?"))
		if p.Forbids(tool.Need{Permission: tool.Execute, Target: command}) == "" {
			t.Errorf("%s, written as %s, lets %s pass", text, told, command)
		}
	}
}

func TestAProjectOnlyNarrows(t *testing.T) {
	for effect, ok := range map[Effect]bool{Deny: true, Ask: true, Allow: false} {
		r, err := ParseRule(effect, Project, "write")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := New(Options{Mode: AskFirst, Rules: []Rule{r}}); (err == nil) != ok {
			t.Errorf("%s of a project: %v", effect, err)
		}
	}
}

func TestExplain(t *testing.T) {
	p := newPolicy(t, AskFirst, nil, "deny execute(rm **)", "allow execute(ls **)")
	for text, want := range map[string]string{
		"ls -l":        "allow by allow execute(ls **)\nruns: ls -l\n",
		"sudo rm $X":   "deny by deny execute(rm **)\nreason: the command `sudo rm $X` is forbidden by the rule \"deny execute(rm **)\" (command line), which matches `rm ?`\nopaque: it contains $X\nruns: sudo rm ?\n        rm ?\n",
		"ls && go vet": "ask by mode ask\nreason: the command `ls && go vet` needs approval\nruns: ls\n      go vet\nsession: allow execute(go vet)\n",
	} {
		got := explained(p.Explain(text, ""))
		if text == "ls -l" {
			got = strings.Replace(got, "reason: \n", "", 1)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", text, d)
		}
	}
}

func TestHostileTextIsReadQuickly(t *testing.T) {
	for _, text := range []string{
		strings.Repeat("(", 900), strings.Repeat("$((", 300), strings.Repeat("$(", 400) + strings.Repeat(")", 400), strings.Repeat("`", 60_000),
		strings.Repeat("a;", 30_000), strings.Repeat("sudo -u ", 8_000), strings.Repeat("\\", 60_000), strings.Repeat("${a:-", 900),
		strings.Repeat("[[ ! ", 10_000), strings.Repeat("a|", 30_000) + "a", strings.Repeat("<<a ", 10_000), strings.Repeat("if ", 20_000),
		strings.Repeat("(", maxNestingIn+1), strings.Repeat("x", maxCommand+1), strings.Repeat("eval ", 10_000), "xargs " + strings.Repeat("$A ", 20_000),
		"echo $((1)) '" + strings.Repeat("$(a)", 15_000) + "'", "echo $((1)) " + strings.Repeat("'$(a b)' ", 6_000),
	} {
		p := newPolicy(t, AskFirst, nil, "allow execute", "deny execute(rm **)")
		if e := p.Explain(text, ""); e.Effect == Allow {
			t.Errorf("%.20s… is allowed", text)
		}
	}
}

// A word that is taken as plain must be what bash makes of it.
func TestPlainWordsAreThoseOfBash(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not here")
	}
	for _, text := range []string{
		`a"b"'c'`, `"a\\b" "a\qb" "a\"b" "\$x"`, `'a\b' '$x' '*'`, `a=b --x='a b'`, "\"a\\\nb\"", "a\\\nb", `{} {a} a{b a}`, `a] ]`, `! !a`, `a#b '#x'`,
		`=ls %1 a~b x:~ + @ ^ , - --`, `"é" 'ü x'`, `""  ''`, "a\tb", `a\ b`, `\a\*`, `{a,b} {1..3}`, `~ ~root`, `[a] ?`, `a:b,c`,
	} {
		c := read("echo "+text, "")
		if c.refused != nil || len(c.simples) != 1 {
			t.Fatalf("%q: %v %v", text, c.simples, c.refused)
		}
		var want []string
		for _, w := range c.simples[0].words[1:] {
			want = append(want, w.Text)
		}
		if !allKnown(c.simples[0].words) {
			continue
		}
		cmd := exec.Command(bash, "--noprofile", "--norc", "-c", `printf '%s\0' `+text)
		cmd.Dir, cmd.Env = t.TempDir(), []string{}
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"); !slices.Equal(got, want) {
			t.Errorf("%q: bash has %q, we have %q", text, got, want)
		}
	}
}

func allKnown(words []script.Word) bool {
	return !slices.ContainsFunc(words, func(w script.Word) bool { return !w.Known })
}

func BenchmarkCommand(b *testing.B) {
	var rules []string
	for i := range 50 {
		rules = append(rules, fmt.Sprintf("allow execute(tool%d {a,b} **)", i), fmt.Sprintf("deny execute(bad%d **)", i))
	}
	p := newPolicy(b, Edits, nil, append(rules, "allow execute(go test **)", "allow execute(grep **)")...)
	q := run("go test ./... -run 'Test A' 2>&1 | grep -v ok && timeout 5 go test ./internal/...")
	for b.Loop() {
		if d, err := p.Decide(b.Context(), q); err != nil || !d.Allow {
			b.Fatal(d, err)
		}
	}
}

func TestExplainJudgesEachProgram(t *testing.T) {
	p := newPolicy(t, AskFirst, nil, "deny execute(rm **)", "allow execute(ls **)", "ask execute(git push **)", "allow execute")
	for _, c := range []struct {
		text string
		mode Mode
		want []string
	}{
		{"ls -l && sudo rm x; git push", AskFirst, []string{
			"allow ls -l: allow execute(ls **)", "deny sudo rm x: deny execute(rm **)", "deny rm x: deny execute(rm **)", "ask git push: ask execute(git push **)"}},
		{"true", AskFirst, []string{"allow true: allow execute"}},
		{"true", Plan, []string{"allow true: no rule"}},
		{"make", Plan, []string{"deny make: no rule"}},
		{`$X y`, AskFirst, []string{"ask ? y: ask execute(git push **)", "allow y: allow execute"}},
	} {
		p := p
		if c.mode == Plan {
			p = newPolicy(t, Plan, nil)
		}
		var got []string
		for _, part := range p.Explain(c.text, "").Parts {
			rule := part.Rule
			if rule == "" {
				rule = "no rule"
			}
			if part.Reason == "" || part.Layer == "" {
				t.Errorf("%s: no reason or layer in %+v", c.text, part)
			}
			got = append(got, string(part.Effect)+" "+part.Command+": "+rule)
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.text, d)
		}
	}
}

// explained is an explanation as text.
func explained(e Explanation) string {
	var b strings.Builder
	var commands []string
	for _, part := range e.Parts {
		if part.Inner {
			part.Command = "  " + part.Command
		}
		commands = append(commands, part.Command)
	}
	by := e.Rule
	if by == "" {
		by = string(e.Layer)
	}
	fmt.Fprintf(&b, "%s by %s\n", e.Effect, by)
	for _, line := range []struct{ name, text string }{
		{"reason", e.Reason}, {"opaque", e.Opaque}, {"runs", strings.Join(commands, "\n      ")}, {"session", strings.Join(e.Session, "\n         ")},
	} {
		if line.text != "" {
			fmt.Fprintf(&b, "%s: %s\n", line.name, line.text)
		}
	}
	return b.String()
}
