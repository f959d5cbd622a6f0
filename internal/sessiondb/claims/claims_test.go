package claims_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"adze/internal/sessiondb/claims"
	"adze/session"
	"adze/tool"
)

// talk writes a conversation down.
type talk struct{ a session.Answered }

func (k *talk) says(text string) *talk {
	k.a.Begin = len(k.a.History)
	k.a.History = append(k.a.History, session.Message{Role: session.User, Parts: []session.Part{{Kind: session.TextPart, Text: text}}})
	return k
}

// did adds a call with its outcome.
func (k *talk) did(o tool.Outcome) *talk {
	o.Call = tool.CallID(fmt.Sprint(len(k.a.History)))
	var args []string
	for _, n := range o.Record.Needs {
		args = append(args, n.Target)
	}
	c := tool.RawCall{ID: o.Call, Name: o.Tool, Arguments: strings.Join(args, " ")}
	k.a.History = append(k.a.History,
		session.Message{Role: session.Assistant, Parts: []session.Part{{Kind: session.CallPart, Call: &c}}},
		session.Message{Role: session.ToolRole, Parts: []session.Part{{Kind: session.OutcomePart, Outcome: &o}}})
	return k
}

func outcome(name string, p tool.Permission, target, output string) tool.Outcome {
	return tool.Outcome{Tool: name, Status: tool.Completed, Output: output, Record: tool.Record{Needs: []tool.Need{{Permission: p, Target: target}}}}
}

func (k *talk) reads(file string) *talk {
	return k.did(outcome("read", tool.Read, file, "text of "+file))
}

func (k *talk) edits(file string) *talk {
	o := outcome("edit", tool.Write, file, "done")
	o.Changed = []string{file}
	return k.did(o)
}

func (k *talk) fails(file string) *talk {
	o := outcome("edit", tool.Write, file, "old text not found")
	o.Status, o.Code = tool.Failed, "not_found"
	return k.did(o)
}

func (k *talk) runs(command string, code int) *talk {
	o := outcome("bash", tool.Execute, command, fmt.Sprintf("exit code %d", code))
	if code != 0 {
		o.Status, o.Code = tool.Failed, tool.CodeExit
	}
	return k.did(o)
}

func (k *talk) check(answer string) []session.Claim {
	k.a.Text = answer
	out, _ := claims.Check(claims.Turn{Answered: k.a, Delegates: func(name string) bool { return name == "task" }})
	return out
}

// usual is the turn of the two lists.
func usual() *talk {
	return new(talk).says("make the timeout configurable").did(outcome("list", tool.Read, ".", "config.go\nserver.go\nhandler.go\nmain_test.go")).reads("config.go").edits("config.go").fails("server.go")
}

func answers(t *testing.T, name string) []string {
	t.Helper()
	raw, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for text := range strings.SplitSeq(string(raw), "\n%%\n") {
		for strings.HasPrefix(text, "# A") || strings.HasPrefix(text, "# server") || strings.HasPrefix(text, "# which") {
			_, text, _ = strings.Cut(text, "\n")
		}
		if strings.TrimSpace(text) != "" {
			out = append(out, text)
		}
	}
	return out
}

func kinds(list []session.Claim) string {
	var out []string
	for _, c := range list {
		out = append(out, string(c.Kind))
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

func TestQuietAnswers(t *testing.T) {
	all := answers(t, "quiet.txt")
	for _, text := range all {
		if got := usual().check(text); len(got) != 0 {
			t.Errorf("%s\n\t%v", text, got)
		}
	}
	if len(all) < 80 {
		t.Errorf("only %d answers were read", len(all))
	}
}

func TestAnswersThatClaimTooMuch(t *testing.T) {
	for _, text := range answers(t, "claims.txt") {
		want, answer, _ := strings.Cut(text, " | ")
		got := usual().check(answer)
		if kinds(got) != want {
			t.Errorf("%s\n\t%s: %v", text, kinds(got), got)
		}
		for _, c := range got {
			if c.Quote == "" || strings.Contains(c.Text, "%!") {
				t.Errorf("%+v", c)
			}
		}
	}
}

// What was done decides, not how it is said.
func TestWhatWasDoneDecides(t *testing.T) {
	const pass = "All tests pass."
	for name, c := range map[string]struct {
		talk   *talk
		answer string
		want   string // kinds
	}{
		"tests after the edit":           {new(talk).says("go").edits("a.go").runs("go test ./...", 0), pass, ""},
		"tests before the edit":          {new(talk).says("go").runs("go test ./...", 0).edits("a.go"), pass, "tests"},
		"tests that failed":              {new(talk).says("go").edits("a.go").runs("go test ./...", 1), pass, "tests"},
		"tests that failed, then passed": {new(talk).says("go").runs("go test ./...", 1).edits("a.go").runs("go test ./...", 0), pass, ""},
		"a script that may test":         {new(talk).says("go").edits("a.go").runs("./check.sh", 0), pass, ""},
		"a build is no test":             {new(talk).says("go").edits("a.go").runs("go build ./... && go vet ./...", 0), pass, "tests"},
		"a look is no test":              {new(talk).says("go").edits("a.go").runs("cat a_test.go | head -3; ls", 0), pass, "tests"},
		"a text changed after the tests": {new(talk).says("go").edits("a.go").runs("make test", 0).edits("README.md"), pass, ""},
		"another program as path":        {new(talk).says("go").edits("a.go").runs("CGO_ENABLED=0 /usr/local/go/bin/go test ./a", 0), pass, ""},
		"tests of an earlier turn":       {new(talk).says("go").edits("a.go").runs("go test ./...", 0).says("and?"), pass, ""},
		"an edit of an earlier turn":     {new(talk).says("go").edits("a.go").says("and?"), pass, "tests"},
		"nothing at all":                 {new(talk).says("go"), pass, "tests"},
		"a subagent":                     {new(talk).says("go").edits("a.go").did(tool.Outcome{Tool: "task", Status: tool.Completed}), pass, ""},
		"the person pasted it":           {new(talk).says("ok adze 0.1s PASS, what does it say?"), pass, ""},
		"a denied run":                   {new(talk).says("go").edits("a.go").did(denied("go test ./...")), pass, "tests"},
		"a failure and another command":  {new(talk).says("go").edits("a.go").runs("go test ./... || true; false", 1), pass, ""},

		"a failed run in a loop":      {new(talk).says("go").edits("a.go").runs("for i in 1 2; do go test ./...; done; exit 1", 1), pass, "tests"},
		"a failed run that ends well": {new(talk).says("go").edits("a.go").prints("go test ./...; exit 0", "--- FAIL: TestA\nFAIL\tm\t0.1s"), pass, "tests"},
		"a failed run, cut":           {new(talk).says("go").edits("a.go").prints("pytest | tail -n 2", "=== 2 failed, 3 passed in 0.2s ==="), pass, "tests"},
		"a loop that only looks":      {new(talk).says("go").edits("a.go").runs("go test ./...", 1).runs("for f in *.go; do cat $f; done; exit 3", 3), pass, "tests"},
		"a summary took the rest":     {summed(new(talk).says("go")), pass, ""},
		"the person's own command":    {own(new(talk).says("go").edits("a.go")), pass, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.talk.check(c.answer); kinds(got) != c.want {
				t.Errorf("%q: %v, want %s", kinds(got), got, c.want)
			}
		})
	}
}

func denied(command string) tool.Outcome {
	o := outcome("bash", tool.Execute, command, "denied")
	o.Status = tool.Denied
	return o
}

func summed(k *talk) *talk {
	k.a.History = slices.Insert(k.a.History, 0, session.Message{Role: session.User, Summary: true})
	return k
}

func own(k *talk) *talk {
	k.a.History = append(k.a.History, session.Message{Role: session.User, OwnCall: "person-1", Parts: []session.Part{{Kind: session.TextPart, Text: "$ make"}}})
	return k
}

// A sentence that claims nothing does so however it is dressed, and beside any other.
func TestDressingChangesNothing(t *testing.T) {
	dress := []func(string) string{
		func(s string) string { return "# Result\n\n" + s },
		func(s string) string { return "- " + strings.ReplaceAll(s, "\n", "\n  ") },
		func(s string) string { return "**Note:** " + s },
		func(s string) string { return "Thanks for asking.\n\n" + s + "\n\nThat is all for now." },
		func(s string) string { return strings.ReplaceAll(s, " ", "  ") },
		func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
		func(s string) string { return s + "\n\n```\nunclosed" },
		strings.ToUpper,
	}
	for _, text := range answers(t, "quiet.txt") {
		for i, d := range dress {
			if strings.ContainsAny(text, "`>|#[") && i > 0 || strings.Contains(text, "\n") && i != 3 {
				continue
			}
			if got := usual().check(d(text)); len(got) != 0 {
				t.Errorf("dress %d: %s\n\t%v", i, d(text), got)
			}
		}
	}
}

func FuzzCheck(f *testing.F) {
	for _, text := range []string{"All tests pass.", "```\n~~~", "| a | b |", "`", "[x](", "“", "- [ ] x", "\xff\xfe", "I updated `a.go`, `b.go` and", "1.", "….", "‘a", "**"} {
		f.Add(text)
	}
	k := usual()
	f.Fuzz(func(t *testing.T, answer string) {
		for _, c := range k.check(answer) {
			if c.Kind == "" || c.Text == "" || len([]rune(c.Quote)) > 160 {
				t.Errorf("%+v", c)
			}
		}
	})
}

// A set that a rule names stands in words.txt: a name that is misspelt would mean no word at all.
func TestEverySetStandsInTheList(t *testing.T) {
	list, err := os.ReadFile("words.txt")
	if err != nil {
		t.Fatal(err)
	}
	names, _ := filepath.Glob("*.go")
	for _, name := range names {
		code, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, use := range regexp.MustCompile(`\b(?:in|has|only)\("([a-zA-Z]+)"`).FindAllSubmatch(code, -1) {
			if !strings.Contains(string(list), "\n"+string(use[1])+": ") {
				t.Errorf("%s: there is no set %s", name, use[1])
			}
		}
	}
}

// TestRunnersThatFailed holds that a failed run contradicts the answer, by whatever it was started:
// node 20.20.2, bats 1.8.2, pytest 7.2.1, vitest 4.1.12 and jest 30.5.2 end with another code than
// 0 where a test fails.
func TestRunnersThatFailed(t *testing.T) {
	for command, want := range map[string]bool{
		"node --test a.mjs": true, "node --test": true, "bats a.bats": true, "npx vitest run": true, "npx --yes jest": true,
		"python3 -m pytest -q": true, "uv run pytest": true, "poetry run pytest": true, "yarn jest": true, "pnpm vitest run": true,
		"timeout 60 go test ./...": true, "timeout 5m npm test": true, "node a.mjs": false, "python3 build.py": false, "npx tsc": false, "uv run build.py": false,
	} {
		got := new(talk).edits("a.go").runs(command, 1).check("All tests pass.")
		if (len(got) == 1 && strings.HasSuffix(got[0].Text, command)) != want {
			t.Errorf("%s: %v, contradicted: %v", command, got, want)
		}
	}
}

// TestAPipeHidesNoFailure looks at failures in the output of runs that ended with code 0, because a
// pipe's code is its last command's or a program ended the run itself.
func TestAPipeHidesNoFailure(t *testing.T) {
	const goes, node = "--- FAIL: TestA (0.00s)\nFAIL\nok  \tm\t0.01s\nexit code 0", "# pass 3\n# fail 1\nexit code 0"
	for command, output := range map[string]string{
		"go test ./...": goes, "go test ./... | tee log": goes, "go test ./... 2>&1 | tee log | head -5": goes, "timeout 60 go test ./... | tail": goes,
		"node --test | tee log": node, "npm test": node,
	} {
		k := new(talk).edits("a.go").prints(command, output)
		if got := k.check("All tests pass."); len(got) != 1 || !strings.HasSuffix(got[0].Text, "failed: "+command) {
			t.Errorf("%s: %v", command, got)
		}
		if got := evidence(k, "All tests pass."); len(got) > 0 {
			t.Errorf("%s is marked: %v", command, got)
		}
	}
}

// TestARunThatFoundNoTests is pytest 7.2.1, which ends with code 5, and vitest 4.1.12, with 1.
func TestARunThatFoundNoTests(t *testing.T) {
	for output, command := range map[string]string{
		"no tests ran in 0.00s\nexit code 5": "pytest -q", "1 deselected in 0.01s\nexit code 5": "pytest -q -k x",
		"No test files found, exiting with code 1\nexit code 1": "npx vitest run",
	} {
		k := new(talk).edits("a.py").prints(command, output, func(o *tool.Outcome) { o.Status, o.Code = tool.Failed, tool.CodeExit })
		if got := k.check("All tests pass."); len(got) != 1 || !strings.HasSuffix(got[0].Text, "the last run found none: "+command) {
			t.Errorf("%s: %v", command, got)
		}
		if got := evidence(k, "All tests pass."); len(got) > 0 {
			t.Errorf("%s is marked: %v", command, got)
		}
	}
}
