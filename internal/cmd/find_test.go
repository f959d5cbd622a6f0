package cmd_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// talk has sessions stored: what is asked of each, and what its model does.
func (u *user) talk(prompts map[string]string) {
	u.t.Helper()
	for prompt, steps := range prompts {
		u.run("-p", "--permission-mode", "yolo", u.script(steps), prompt).wants(0)
	}
}

func (u *user) indexed() bool {
	data, err := os.ReadFile(filepath.Join(u.home, "state", "sessions.db"))
	log, lerr := os.ReadFile(filepath.Join(u.home, "state", "sessions.db-wal"))
	return err == nil && strings.Contains(string(data), "VIRTUAL TABLE words") || lerr == nil && strings.Contains(string(log), "VIRTUAL TABLE words")
}

// What was asked, answered, called and came of it is found, from a shell and for scripts; a run
// alone makes no index.
func TestSessionsAreSearched(t *testing.T) {
	u := newUser(t)
	u.file("notes.txt", "the wombat lives here\n")
	u.talk(map[string]string{"why is the disk full": "-- 1 --\ncall read: {\"path\": \"notes.txt\"}\n-- 2 --\ntext: The log never rotates.\n"})
	if u.indexed() {
		t.Error("a run made the index")
	}
	u.run("session", "search", "disk full").wants(0, "why is the disk full", "prompt")
	if !u.indexed() {
		t.Error("a search made no index")
	}
	u.run("session", "search", "rotat").wants(0, "answer", "The log never rotates.")
	u.run("session", "search", "wombat", "lives").wants(0, "read", "the wombat lives here")
	var hit struct{ Session, Kind, Tool, Message, Snippet string }
	decode(t, u.run("session", "search", "notes.txt", "--json").wants(0).out, &hit)
	if hit.Kind != "call" || hit.Tool != "read" || hit.Session == "" || !strings.Contains(hit.Snippet, "notes.txt") {
		t.Errorf("%+v", hit)
	}
	u.talk(map[string]string{"what else fills the disk": "-- 1 --\ntext: Nothing.\n"})
	r := u.run("session", "search", "disk", "--limit", "1").wants(0, "what else fills the disk", "--page 2 shows them")
	if strings.Contains(r.out, "why is the disk full") {
		t.Errorf("more than one: %s", r.out)
	}
	u.run("session", "search", "disk", "--limit", "1", "--page", "2").wants(0, "why is the disk full")
	u.run("session", "search", "disk", "--since", "1h").wants(0, "why is the disk full")
	u.run("session", "search", "disk", "--since", "2999-01-01").wants(0, "nothing found")
	u.dir = t.TempDir()
	u.run("session", "search", "disk").wants(0, "nothing found", "--all")
	u.run("session", "search", "disk", "--all").wants(0, "why is the disk full")
	u.run("session", "search", "--", "-").wants(2, "a letter or a digit")
	u.run("session", "search", "x", "--since", "soon").wants(2, "3d")
	u.run("session", "search", "x", "--page", "0").wants(2, "--page 2")
}

// lastUsed is the id of the session that was used last.
func (u *user) lastUsed() string {
	u.t.Helper()
	var got struct{ ID string }
	decode(u.t, u.run("session", "list", "--json", "--limit", "1").wants(0).out, &got)
	return got.ID
}

func TestSessionsAreListedByPages(t *testing.T) {
	u := newUser(t)
	for _, prompt := range []string{"one", "two", "three"} {
		u.talk(map[string]string{prompt: "-- 1 --\ntext: so\n"})
	}
	r := u.run("session", "list", "--limit", "2").wants(0, "three", "two", "2 of 3; --page 2 shows more")
	if strings.Contains(r.out, "  one") {
		t.Errorf("three of two: %s", r.out)
	}
	u.run("session", "list", "--limit", "2", "--page", "2").wants(0, "one")
	if r := u.run("session", "list", "--json").wants(0); strings.Count(r.out, "\n") != 3 || r.err != "" {
		t.Errorf("a script gets all: %s%s", r.out, r.err)
	}
	u.run("session", "tag", u.lastUsed(), "+keep", "x").wants(0, "three  [keep x]")
	u.run("session", "list", "--tag", "keep", "--tag", "x").wants(0, "three  [keep x]")
	u.run("session", "tag", u.lastUsed(), "-x").wants(0, "three  [keep]")
	u.run("session", "tag", u.lastUsed()).wants(0, "three  [keep]")
	u.run("session", "tag", u.lastUsed(), "-").wants(2, "+keep")
	if r := u.run("session", "list", "--tag", "x").wants(0); r.out != "" {
		t.Errorf("a tag that was taken away: %s", r.out)
	}
	u.run("session", "rename", u.lastUsed(), "the", "third").wants(0, "the third  [keep]")
	u.run("session", "list").wants(0, "the third  [keep]")
	u.run("session", "rename", u.lastUsed(), "").wants(0, "three  [keep]")
	u.run("session", "list", "--folder", t.TempDir()).wants(0)
	u.run("session", "list", "--folder", u.dir, "--since", "1d").wants(0, "two")
	// Ids complete by their beginning.
	r = u.run("__complete", "session", "show", u.lastUsed()[:9]).wants(0, u.lastUsed(), "three")
	if strings.Count(r.out, "\n2") != 2 && !strings.HasPrefix(r.out, "2") {
		t.Errorf("completed %s", r.out)
	}
}

func TestASessionIsShownAndForkedAtATurn(t *testing.T) {
	u := newUser(t)
	u.file("long.txt", strings.Repeat("line of it\n", 40))
	u.talk(map[string]string{"read it": "-- 1 --\ntext: I look.\ncall read: {\"path\": \"long.txt\"}\n-- 2 --\ntext: It is long.\n"})
	id := u.lastUsed()
	for _, prompt := range []string{"second", "third"} {
		u.run("-p", "--resume", id, u.script("-- 1 --\ntext: answer to "+prompt+"\n"), prompt).wants(0)
	}
	r := u.run("session", "show", id).wants(0, "turn 1", "> read it", "I look.", "• read", "completed", "more lines; --whole shows them", "It is long.", "turn 3", "answer to third")
	if strings.Count(r.out, "line of it") > 15 {
		t.Errorf("the whole result is shown: %s", r.out)
	}
	if r := u.run("session", "show", id, "--whole").wants(0); strings.Count(r.out, "line of it") < 40 {
		t.Errorf("the result is cut: %s", r.out)
	}
	if r := u.run("session", "show", id, "--turn", "2").wants(0, "> second", "answer to second"); strings.Contains(r.out, "third") || strings.Contains(r.out, "read it") {
		t.Errorf("more than the turn: %s", r.out)
	}
	u.run("session", "show", id, "--turn", "9").wants(2, "no turn 9")
	var first struct {
		Kind, Text string
		Turn, Seq  int
	}
	decode(t, strings.SplitN(u.run("session", "show", id, "--json").wants(0).out, "\n", 2)[0], &first)
	if first.Kind != "prompt" || first.Text != "read it" || first.Turn != 1 || first.Seq < 1 {
		t.Errorf("%+v", first)
	}
	copied := strings.TrimSpace(u.run("session", "fork", id, "--at", "2").wants(0).out)
	if r := u.run("session", "show", copied).wants(0, "a copy of "+id, "answer to second"); strings.Contains(r.out, "third") {
		t.Errorf("it goes on: %s", r.out)
	}
	u.run("sessions", "verify", copied).wants(0)
	u.run("-p", "--resume", copied, u.script("-- 1 --\nexpect prompt: other\ntext: another way\n"), "other").wants(0, "another way")
	u.run("session", "show", copied, "--turn", "3").wants(0, "another way")
	u.run("session", "show", id, "--turn", "3").wants(0, "answer to third")
	u.run("session", "fork", id, "--at", "4").wants(2, "no turn 4", "has 3")
}

func TestSessionsAreDeleted(t *testing.T) {
	u := newUser(t)
	u.talk(map[string]string{"the kwyjibo affair": "-- 1 --\ntext: so\n"})
	id := u.lastUsed()
	u.talk(map[string]string{"another": "-- 1 --\ntext: so\n"})
	u.run("session", "search", "kwyjibo").wants(0, id)
	u.run("session", "delete", id).wants(2, "add --yes")
	u.run("session", "delete").wants(2, "--expired")
	u.run("session", "delete", "--expired").wants(0)
	u.run("session", "list").wants(0, "kwyjibo affair")
	r := u.run("session", "delete", "--yes", id).wants(0, "removed "+id)
	if r.err != "" {
		t.Errorf("told: %s", r.err)
	}
	for _, name := range []string{"sessions.db", "sessions.db-wal"} {
		if data, err := os.ReadFile(filepath.Join(u.home, "state", name)); err == nil && strings.Contains(strings.ToLower(string(data)), "kwyjibo") {
			t.Errorf("%s still holds the word", name)
		}
	}
	u.run("session", "show", id).wants(2, "was deleted on", "sessions list --all")
	if r := u.run("session", "search", "kwyjibo"); r.out != "" {
		t.Errorf("found: %s", r.out)
	}
	u.run("audit", "verify", "--all").wants(0)
	u.configure(`{"sessions": {"keep": {"count": 1}}}`)
	u.talk(map[string]string{"a third": "-- 1 --\ntext: so\n"})
	u.run("session", "tag", u.lastUsed(), "+keep").wants(0)
	u.talk(map[string]string{"a fourth": "-- 1 --\ntext: so\n"})
	if r := u.run("session", "delete", "--expired", "--json").wants(0); strings.Count(r.out, `"why":"retention"`) != 1 {
		t.Errorf("removed: %s", r.out)
	}
	if r := u.run("session", "list").wants(0, "a third", "a fourth"); strings.Contains(r.out, "another") {
		t.Errorf("left: %s", r.out)
	}
}

// Without an ID, what looks at a session means the one last used in this folder; - is standard
// output.
func TestTheSessionLastUsedIsMeant(t *testing.T) {
	u := newUser(t)
	for _, c := range []string{"show", "export", "follow"} {
		u.run("session", c).wants(2, "no session of", "adze sessions list --all")
	}
	u.talk(map[string]string{"one": "-- 1 --\ntext: the first\n"})
	u.talk(map[string]string{"two": "-- 1 --\ntext: the second\n"})
	for _, c := range []string{"show", "export", "follow", "export -o -"} {
		r := u.run(append([]string{"session"}, strings.Fields(c)...)...).wants(0, "the second")
		if strings.Contains(r.out, "the first") {
			t.Errorf("%s: an older session: %s", c, r.out)
		}
	}
	if _, err := os.Lstat(filepath.Join(u.dir, "-")); err == nil {
		t.Error("a file was made of the name -")
	}
}
