package lsp_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adze/internal/editors/lsp"
)

// TestOnlyWhatIsNewIsTold: a problem that was there before is not, though its line moved; hints
// never are; of a server that pushes with versions, without, that is asked, and that counts bytes.
func TestOnlyWhatIsNewIsTold(t *testing.T) {
	for _, how := range []string{"push", "no version", "pull", "utf-8", "banner"} {
		t.Run(how, func(t *testing.T) {
			s, dir := desk(t, how)
			path := put(t, dir, "a.x", "BAD old\n")
			f, ok := s.Changed(t.Context(), path, "BAD old\n", "ODD é\nHINT\n\nBAD old\nx BAD new\n")
			if !ok || f.Unknown != "" {
				t.Fatalf("%v %+v", ok, f)
			}
			text := f.Text(func(p string) string { return filepath.Base(p) })
			if text != "fake: new with this edit\n  a.x:5:3: error: BAD is here [C1]\n  a.x:1:1: warning: ODD is here [C1]" {
				t.Errorf("told:\n%s", text)
			}
			f, _ = s.Changed(t.Context(), path, "", "x BAD new\n")
			if text := f.Text(filepath.Base); text != "fake: nothing new is wrong in this file; others were not looked at" {
				t.Errorf("told:\n%s", text)
			}
		})
	}
}

// TestAServerThatIsSilentIsNotTakenForClean: what is not known is said so, within the time; it
// follows with the next.
func TestAServerThatIsSilentIsNotTakenForClean(t *testing.T) {
	s, dir := desk(t, "silent", func(o *lsp.Options) { o.Warm, o.Cold = 50*time.Millisecond, 50*time.Millisecond })
	path := put(t, dir, "a.x", "")
	for range 2 {
		for text := ""; !strings.Contains(text, "not known yet: no answer within"); { // it is ready now
			f, ok := s.Changed(t.Context(), path, "", "BAD\n")
			if text = f.Text(filepath.Base); !ok || len(f.New) > 0 || f.Unknown == "" {
				t.Fatalf("%v %s", ok, text)
			}
		}
	}
}

// TestFaultsOfAServer: at each phase it exits, hangs, floods or writes rubbish, and an edit has one
// outcome in its time.
func TestFaultsOfAServer(t *testing.T) {
	for _, at := range []string{"initialize", "initialized", "textDocument/didOpen", "textDocument/didChange", "textDocument/didSave"} {
		for _, fault := range []string{"exit", "hang", "huge", "rubbish"} {
			t.Run(fault+" at "+at, func(t *testing.T) {
				t.Parallel()
				s, dir := desk(t, fault+" at "+at+" silent", func(o *lsp.Options) { o.Warm, o.Cold = 300*time.Millisecond, 300*time.Millisecond })
				path := put(t, dir, "a.x", "")
				for i := range 4 { // more often than it is started again
					f, ok := s.Changed(t.Context(), path, "a\n", "b BAD\n")
					before := i > 0 && fault != "hang" // that it does not come up was told
					if !ok && !before || f.Unknown == "" || len(f.New) > 0 {
						t.Fatalf("%v %+v", ok, f)
					}
				}
				s.Close()
				for _, st := range s.States() {
					if st.PID != 0 {
						t.Errorf("still there: %+v", st)
					}
				}
			})
		}
	}
}

// TestTheLastWordsOfAServerAreTold: once, however often it is started and however many edits there
// are.
func TestTheLastWordsOfAServerAreTold(t *testing.T) {
	s, dir := desk(t, "exit at initialize")
	path := put(t, dir, "a.x", "")
	for i := range 6 {
		f, ok := s.Changed(t.Context(), path, "", "x")
		if !strings.Contains(f.Unknown, "exit code 3: cannot go on") && i < 4 || ok != (i == 0) {
			t.Fatalf("%d: %t, unknown because %q", i, ok, f.Unknown)
		}
	}
	if st := s.States(); len(st) != 1 || st[0].State != "failed" {
		t.Errorf("states %+v", st)
	}
}

// TestAProgramThatIsNoServer: the name of one is there, as rustup leaves it, and says at once that
// it is none. That is told also where no edit waits for it to end, and it is started three times
// and no more.
func TestAProgramThatIsNoServer(t *testing.T) {
	starts := filepath.Join(t.TempDir(), "starts")
	script := put(t, t.TempDir(), "analyzer", "#!/bin/sh\necho >>"+starts+"\necho 'error: unknown binary analyzer' >&2\nexit 1\n")
	if err := os.Chmod(script, 0o755); err != nil {
		t.Fatal(err)
	}
	s, dir := desk(t, "", func(o *lsp.Options) { o.Cold, o.Languages[0].Command = time.Millisecond, []string{script} })
	path := put(t, dir, "a.x", "")
	told := 0
	edit := func() {
		f, ok := s.Changed(t.Context(), path, "", "x")
		switch {
		case ok && strings.Contains(f.Unknown, "error: unknown binary analyzer"): // by its exit code, or by a pipe that broke first
			told++
		case ok && (told > 0 || f.Unknown != "it is still starting"):
			t.Fatalf("told %d times, then %+v", told, f)
		}
	}
	for told == 0 {
		edit()
	}
	lines := func() int { text, _ := os.ReadFile(starts); return len(text) }
	for end := time.Now().Add(long); lines() < 3 && time.Now().Before(end); {
		edit()
	}
	for range 20 {
		edit()
	}
	if told != 1 || lines() != 3 {
		t.Errorf("told %d times, started %d times", told, lines())
	}
}

func TestNoServerStartsWithoutConsent(t *testing.T) {
	s, dir := desk(t, "push", func(o *lsp.Options) { o.Refuses = func() error { return errors.New("it was not allowed") } })
	path := put(t, dir, "a.x", "")
	if f, ok := s.Changed(t.Context(), path, "", "BAD"); ok {
		t.Errorf("%+v", f)
	}
	if _, err := s.Problems(t.Context(), path); !strings.Contains(fmt.Sprint(err), "it was not allowed") {
		t.Errorf("err %v", err)
	}
	if _, ok := s.Changed(t.Context(), put(t, dir, "a.y", ""), "", "BAD"); ok {
		t.Error("a file without a language has a server")
	}
	if _, err := s.Problems(t.Context(), filepath.Join(dir, "a.y")); !errors.Is(err, lsp.ErrNone) {
		t.Errorf("err %v", err)
	}
}

// TestManyFilesStayInBounds: more files than are open at once, each with its own answer.
func TestManyFilesStayInBounds(t *testing.T) {
	s, dir := desk(t, "push")
	for i := range 45 {
		path := put(t, dir, fmt.Sprintf("d%d/a.x", i), "")
		if f, _ := s.Changed(t.Context(), path, "", "BAD\n"); len(f.New) != 1 || f.New[0].Path != path {
			t.Fatalf("%d: %+v", i, f)
		}
	}
}

// TestARenameSaysWhatBecomesOfFiles and changes none; one that does more than rename is refused.
func TestARenameSaysWhatBecomesOfFiles(t *testing.T) {
	s, dir := desk(t, "push")
	a, b := put(t, dir, "a.x", "x old y\nold\n"), put(t, dir, "b.x", "é old\n")
	for _, p := range []string{a, b} {
		raw, _ := os.ReadFile(p)
		s.Changed(t.Context(), p, "", string(raw))
	}
	got, err := s.Rename(t.Context(), lsp.Spot{Path: a, Line: 1, Name: "old"}, "brand")
	if err != nil || len(got) != 2 || got[0].After != "x brand y\nbrand\n" {
		t.Errorf("%+v %v", got, err)
	}
	if raw, _ := os.ReadFile(a); string(raw) != "x old y\nold\n" {
		t.Errorf("the file was changed: %q", raw)
	}
	if _, err := s.Rename(t.Context(), lsp.Spot{Path: a, Line: 2, Name: "gone"}, "x"); !strings.Contains(fmt.Sprint(err), `has no name "gone"`) {
		t.Errorf("err %v", err)
	}
	s, dir = desk(t, "deletes")
	a = put(t, dir, "a.x", "old\n")
	if _, err := s.Rename(t.Context(), lsp.Spot{Path: a, Line: 1, Name: "old"}, "x"); !strings.Contains(fmt.Sprint(err), "wants to delete a file") {
		t.Errorf("err %v", err)
	}
}
