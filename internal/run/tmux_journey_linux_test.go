package run_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"adze/internal/sessiondb"
	"adze/internal/testkit/browsertest"
	"adze/session"
	"adze/tool"
)

// TestOneSessionInManyWindows: it is begun in a terminal, goes on in the background, is answered by
// touch on a page as small as a phone, taken over in another terminal, reviewed, committed and
// merged by its command. Nothing is done or said twice.
func TestOneSessionInManyWindows(t *testing.T) {
	needs(t, "git")
	u := newUser(t).withName()
	inGit(t, u.dir, "init", "-q", "-b", "main")
	inGit(t, u.dir, "commit", "-q", "--allow-empty", "-m", "first")
	phone := browsertest.New(t)

	// A terminal: the session is begun in a work tree, and goes on without a terminal.
	first := u.openPane(100, 30)
	first.adze("--worktree=fix", "--permission-mode=ask", u.script("-- 1 --\ntext: I have looked at it.\n"))
	first.text("look at the parser")
	first.keys("Enter")
	first.sees("I have looked at it.")
	first.rests()
	tree := *u
	tree.dir += "-fix"
	id := tree.newest()
	t.Cleanup(func() { u.run("stop", id) })
	u.script("-- 1 --\ntext: I write it.\ncall write: {\"path\":\"parser.txt\",\"content\":\"mended\\n\"}\n-- 2 --\nexpect write completed: created\ntext: The parser is mended.\n")
	first.text("/background mend the parser")
	first.keys("Enter")
	first.sees("it works in the background")
	first.restored(0)

	// The page of another process, on a phone: the question is found in the list and allowed once.
	_, address := tree.serving(u.script("-- 1 --\ntext: never\n"))
	page := phone.Open(address)
	page.Phone(360, 740)
	page.Tap(`#homelist [data-session="` + id + `"]`)
	page.Until(`document.querySelector("form.ask .needs")?.textContent.includes("parser.txt")`)
	if _, err := os.Stat(filepath.Join(tree.dir, "parser.txt")); err == nil {
		t.Fatal("the file was written before the answer")
	}
	page.Tap(`form.ask [value=once]`)
	page.Until(`document.querySelector(".answered") && document.querySelector("#log").textContent.includes("The parser is mended.")`)

	// Another terminal attaches, takes the session over and goes on with it.
	second := u.openPane(100, 30)
	second.adze("attach", id)
	second.sees("The parser is mended.", "has this session", "/take")
	u.script("-- 1 --\ntext: It was a small change.\n")
	second.text("/take ")
	second.keys("Enter")
	second.gone("has this session")
	second.sees("Ask, or say what to do", "F1: keys")
	second.text("was it large?")
	second.keys("Enter")
	second.sees("It was a small change.")
	page.Until(`document.querySelector("#log").textContent.includes("It was a small change.")`)
	second.rests()

	// There it is reviewed and committed, then merged.
	second.keys("F3")
	second.sees("net changes · 1 file", "parser.txt", "mended")
	second.text("i")
	second.until("the hunk is in the index", func() bool {
		return strings.Contains(inGit(t, tree.dir, "diff", "--cached", "--name-only"), "parser.txt")
	})
	second.text("q")
	second.until("the pane is closed", func() bool { return !strings.Contains(second.screen(), "net changes") })
	second.rests()
	second.sees("✓ $ git apply")
	second.text("/commit Mend the parser")
	second.keys("Enter")
	second.until("the commit is made", func() bool {
		return strings.Contains(inGit(t, tree.dir, "log", "-1", "--format=%s"), "Mend the parser")
	})
	second.rests()
	second.quit()
	u.run("sessions", "merge", id, "--remove").wants(0)
	u.holds("parser.txt", "mended\n")
	if got := inGit(t, u.dir, "log", "--format=%s"); strings.Count(got, "Mend the parser") != 1 {
		t.Errorf("main has %s", got)
	}
	if got := inGit(t, u.dir, "worktree", "list"); strings.Contains(got, tree.dir) {
		t.Errorf("the work tree is left: %s", got)
	}

	// The log has all of it once, and is sound.
	u.run("audit", "verify", "--all").wants(0, "1 session checked, all sound")
	phone.Quiet()
	said, senders, outcomes := journeyLog(t, filepath.Join(u.home, "state", "sessions.db"))
	own := "I ran this command myself (completed):"
	if want := []string{"look at the parser", "I have looked at it.", "mend the parser", "I write it.", "The parser is mended.", "was it large?", "It was a small change.", own, own, own}; !slices.Equal(said, want) {
		t.Errorf("the log has %q", said)
	}
	if len(senders) != 1 || !strings.Contains(senders[0], `"as":"page"`) {
		t.Errorf("answers came from %q", senders)
	}
	for call, n := range outcomes {
		if n != 1 {
			t.Errorf("call %s has %d outcomes", call, n)
		}
	}
	if len(outcomes) != 1 {
		t.Errorf("%d calls were made", len(outcomes))
	}
}

// journeyLog is the first line of each message of the one session, who sent answers from elsewhere, and
// how many outcomes each call of the model has.
func journeyLog(t *testing.T, path string) (said, senders []string, outcomes map[tool.CallID]int) {
	t.Helper()
	s, err := sessiondb.Look(t.Context(), path, sessiondb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	heads, err := s.List(t.Context())
	if err != nil || len(heads) != 1 {
		t.Fatalf("%d sessions, %v", len(heads), err)
	}
	entries, err := s.Load(t.Context(), heads[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	outcomes = map[tool.CallID]int{}
	for _, e := range entries {
		var m session.Message
		var o tool.Outcome
		if strings.Contains(string(e.Data), "answer q1 once") {
			senders = append(senders, string(e.Data))
		}
		switch {
		case e.Type == session.MessageEntry && json.Unmarshal(e.Data, &m) == nil:
			if first, _, _ := strings.Cut(m.Text(), "\n"); first != "" {
				said = append(said, first)
			}
			for _, p := range m.Parts {
				if p.Call != nil {
					outcomes[p.Call.ID] += 0
				}
			}
		case e.Type == session.OutcomeEntry && json.Unmarshal(e.Data, &o) == nil:
			if _, asked := outcomes[o.Call]; asked {
				outcomes[o.Call]++
			}
		}
	}
	return said, senders, outcomes
}
