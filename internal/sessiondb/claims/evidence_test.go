package claims_test

import (
	"os"
	"strings"
	"testing"

	"adze/internal/sessiondb/claims"
	"adze/session"
	"adze/tool"
)

// prints adds a command with its output.
func (k *talk) prints(command, output string, change ...func(*tool.Outcome)) *talk {
	o := outcome("bash", tool.Execute, command, output)
	for _, c := range change {
		c(&o)
	}
	return k.did(o)
}

// ended are the sessions that the sentences of evidence.txt end.
func ended(name string) *talk {
	const okay = "ok  \texample/config\t0.01s\nok  \texample/server\t0.02s\nexit code 0 after 1.2s"
	k := new(talk).says("make the timeout configurable")
	switch name {
	case "tested":
		return k.edits("config.go").prints("go build ./...", "(no output)").prints("go test ./...", okay).prints("git commit -q -m timeout", "[main abc1234] timeout")
	case "stale":
		return k.prints("go build ./...", "").prints("go test ./...", okay).edits("config.go")
	case "failing":
		return k.edits("config.go").prints("go test ./...", okay).runs("go test ./...", 1)
	case "narrow":
		return k.edits("config.go").prints("go test ./config", okay)
	case "piped":
		return k.edits("config.go").prints("go test ./... | tail -n 3", okay)
	case "counted":
		return k.edits("config.py").prints("pytest -q", "........\n24 passed in 0.12s\nexit code 0")
	case "empty":
		return k.edits("config.go").prints("go test ./...", "?   \texample\t[no test files]\nexit code 0")
	case "nothing to run":
		return k.edits("config.go").prints("go test ./...", "ok  \texample/config\t0.01s [no tests to run]\nexit code 0")
	case "benchmarks":
		return k.edits("config.go").prints("make test", "BenchmarkA 10\nok  \texample/config\t0.01s [no tests to run]\nexit code 0")
	case "skipped":
		return k.edits("config.go").prints("go test -v ./...", "--- SKIP: TestA (0.00s)\nPASS\nok  \texample/config\t0.01s\nexit code 0")
	case "skipped by bun":
		return k.edits("config.ts").prints("bun test", " 0 pass\n 1 skip\n 0 fail\nexit code 0")
	case "skipped by bats":
		return k.edits("a.sh").prints("bats a.bats", "1..1\nok 1 a # skip\nexit code 0")
	case "job":
		return k.edits("config.go").prints("go test ./...", "started job-1", func(o *tool.Outcome) { o.Metadata = []byte(`{"job":"job-1","running":true}`) })
	case "elsewhere":
		return k.edits("config.go").prints("go test ./...", okay, func(o *tool.Outcome) { o.Metadata = []byte(`{"workdir":"sub"}`) })
	case "delegated":
		return k.prints("go build ./...", "").prints("go test ./...", okay).did(tool.Outcome{Tool: "task", Status: tool.Completed})
	case "nothing":
		return k
	}
	return nil
}

// TestEvidenceOfSentencesWithKnownTruth marks no sentence that is false or that no call shows, and
// tells how many of the others it marks.
func TestEvidenceOfSentencesWithKnownTruth(t *testing.T) {
	raw, err := os.ReadFile("testdata/evidence.txt")
	if err != nil {
		t.Fatal(err)
	}
	lists := map[string][]string{}
	var list, session string
	marked, true_, open, false_ := 0, 0, 0, 0
	judge := func(truth, sentence string) {
		got := evidence(ended(session), sentence)
		switch {
		case truth == "-":
			false_++
			if len(got) > 0 {
				t.Errorf("%s: %q is marked: %v", session, sentence, got)
			}
		case truth == "~":
			open++
		case len(got) > 0:
			true_++
			marked++
		default:
			true_++
			t.Logf("not marked, %s: %q", session, sentence)
		}
	}
	for line := range strings.Lines(string(raw)) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '=':
			list, session = line[2:], ""
		case line[0] == '@':
			words := strings.Fields(line[2:])
			if session, list = words[0], ""; ended(session) == nil {
				t.Fatalf("there is no session %q", session)
			}
			for _, name := range words[1:] {
				for _, sentence := range lists[name] {
					judge("-", sentence)
				}
			}
		case list != "":
			lists[list] = append(lists[list], line)
		default:
			judge(line[:1], line[2:])
		}
	}
	t.Logf("%d sentences: %d of %d that calls show are marked, %d of %d others by mistake", true_+open+false_, marked, true_, 0, false_)
	if true_+open+false_ < 300 || marked*10 < true_*7 {
		t.Errorf("%d sentences, %d of %d marked", true_+open+false_, marked, true_)
	}
}

func evidence(k *talk, answer string) []session.Evidence {
	k.a.Text = answer
	_, shown := claims.Check(claims.Turn{Answered: k.a, Delegates: func(name string) bool { return name == "task" }})
	return shown
}

// TestRunsWithoutATestShowNothing looks at runs in which no test ran.
func TestRunsWithoutATestShowNothing(t *testing.T) {
	for _, name := range []string{"empty", "nothing to run", "benchmarks", "skipped", "skipped by bun", "skipped by bats"} {
		if got := evidence(ended(name), "All tests pass. `bats a.bats` passes."); len(got) > 0 {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestEvidenceNamesTheCall looks at what a mark says.
func TestEvidenceNamesTheCall(t *testing.T) {
	k := ended("tested")
	got := evidence(k, "I ran `go build ./...`, and all tests pass.\n\nI updated `config.go`.")
	if len(got) != 2 {
		t.Fatal(got)
	}
	for i, want := range []session.Evidence{
		{Kind: session.CommandClaim, Quote: "I ran `go build ./...`", Text: "go build ./..., after the last edit"},
		{Kind: session.TestsClaim, Quote: "all tests pass", Text: "go test ./..., after the last edit"},
	} {
		if want.Call = got[i].Call; got[i] != want || got[i].Call == "" {
			t.Errorf("%+v, want %+v", got[i], want)
		}
	}
}

// TestNoClaimIsBothShownAndDoubted checks the answers that claim too much: none of their claims is
// marked.
func TestNoClaimIsBothShownAndDoubted(t *testing.T) {
	for _, text := range answers(t, "claims.txt") {
		_, answer, _ := strings.Cut(text, " | ")
		for _, e := range evidence(usual(), answer) {
			for _, c := range usual().check(answer) {
				if strings.Contains(c.Quote, e.Quote) {
					t.Errorf("%q is doubted, and marked: %v", c.Quote, e)
				}
			}
		}
	}
}

func FuzzEvidence(f *testing.F) {
	for _, text := range []string{"All tests pass.", "I ran `go test ./...`.", "`", "I updated `config.go`, `", "24/24 tests pass (", "\xff"} {
		f.Add(text)
	}
	k := ended("tested")
	f.Fuzz(func(t *testing.T, answer string) {
		for _, e := range evidence(k, answer) {
			if e.Call == "" || e.Quote == "" || e.Text == "" {
				t.Errorf("%+v", e)
			}
		}
	})
}
