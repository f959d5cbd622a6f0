package lsp_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adze/internal/editors/lsp"
	"adze/internal/testkit/posix"
)

// gated is a workspace whose server waits at a method until release is called, and edits do not
// wait.
func gated(t *testing.T, how string) (s *lsp.Servers, dir string, release func()) {
	t.Helper()
	s, dir = desk(t, how, func(o *lsp.Options) { o.Warm, o.Cold = time.Millisecond, time.Millisecond })
	gate := filepath.Join(dir, "gate.fifo")
	if err := posix.Fifo(t, gate); err != nil {
		t.Skip("no FIFO can be made here:", err)
	}
	return s, dir, func() {
		f, err := os.OpenFile(gate, os.O_WRONLY, 0) // waits for the server
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(gate); err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
}

// TestWhatIsNotKnownYetFollows: of an edit that was not waited for, once, when the server has
// answered.
func TestWhatIsNotKnownYetFollows(t *testing.T) {
	s, dir, release := gated(t, "push gate at textDocument/didOpen")
	path := put(t, dir, "a.x", "BAD\n")
	if f, ok := s.Changed(t.Context(), path, "", "BAD\n"); !ok || f.Unknown == "" {
		t.Fatalf("%v %+v", ok, f)
	}
	release()
	if !s.Await(t.Context()) {
		t.Fatal("nothing follows")
	}
	text := lsp.LateText(s.Late(), filepath.Base)
	if text != "fake: of a.x, changed before: new with this edit\n  a.x:1:1: error: BAD is here [C1]" {
		t.Error(text)
	}
	if s.Await(t.Context()) || len(s.Late()) > 0 {
		t.Error("it is told twice")
	}
}

// TestWhatFollowsComesWithTheNextEdit of another file, and that nothing was wrong is told, too.
func TestWhatFollowsComesWithTheNextEdit(t *testing.T) {
	s, dir, release := gated(t, "push gate at textDocument/didOpen")
	a, b := put(t, dir, "a.x", "fine\n"), put(t, dir, "b.x", "fine\n")
	s.Changed(t.Context(), a, "", "fine\n")
	release()
	s.Await(t.Context())
	f, _ := s.Changed(t.Context(), b, "", "fine\n")
	if text := f.Text(filepath.Base); !strings.HasPrefix(text, "fake: of a.x, changed before: nothing new is wrong") {
		t.Error(text)
	}
}

// TestAFileThatIsChangedAgainBeforeTheAnswer: what the first edit broke is new, though the server
// says it of the second.
func TestAFileThatIsChangedAgainBeforeTheAnswer(t *testing.T) {
	s, dir, release := gated(t, "push gate at textDocument/didChange")
	path := put(t, dir, "a.x", "old BAD\n")
	s.Changed(t.Context(), path, "", "old BAD\n")
	s.Await(t.Context())
	s.Late()
	s.Changed(t.Context(), path, "old BAD\n", "old BAD\nBAD one\n")
	s.Changed(t.Context(), path, "old BAD\nBAD one\n", "old BAD\nBAD one\n\nBAD two\n")
	release()
	if !s.Await(t.Context()) {
		t.Fatal("nothing follows")
	}
	text := lsp.LateText(s.Late(), filepath.Base)
	if text != "fake: of a.x, changed before: new with this edit\n  a.x:2:1: error: BAD is here [C1]\n  a.x:4:1: error: BAD is here [C1]" {
		t.Error(text)
	}
}

// TestAQuestionWaitsForTheChangeBefore: it is answered for what stands in the file, not for a text
// that the server was shown on the way.
func TestAQuestionWaitsForTheChangeBefore(t *testing.T) {
	s, dir, release := gated(t, "push gate at textDocument/didOpen")
	path := put(t, dir, "a.x", "BAD\n")
	s.Changed(t.Context(), path, "fine\n", "BAD\n")
	go release()
	if all, err := s.Problems(t.Context(), path); err != nil || len(all) != 1 {
		t.Errorf("%+v %v", all, err)
	}
}

// TestAServerThatEndsIsToldLater: also that nothing will be known.
func TestAServerThatEndsIsToldLater(t *testing.T) {
	s, dir, release := gated(t, "push gate at initialize exit at textDocument/didOpen")
	path := put(t, dir, "a.x", "BAD\n")
	s.Changed(t.Context(), path, "", "BAD\n")
	release()
	if !s.Await(t.Context()) {
		t.Fatal("nothing follows")
	}
	if text := lsp.LateText(s.Late(), filepath.Base); !strings.Contains(text, "of a.x, changed before: whether it is right is not known: ") {
		t.Error(text)
	}
}

// TestConsentCountsAtOnce: a server that is held starts when the user allows what it runs, and ends
// when they take that back.
func TestConsentCountsAtOnce(t *testing.T) {
	allowed := false
	s, dir := desk(t, "push", func(o *lsp.Options) { o.Allows = func(lsp.SDK) bool { return allowed } })
	path := put(t, dir, "a.x", "BAD\n")
	f, ok := s.Changed(t.Context(), path, "", "BAD\n")
	if text := f.Text(filepath.Base); !ok || text != "fake: whether this is right is not known yet: it is not started: it may run code of this project, and the user has not allowed that here" {
		t.Errorf("%v %s", ok, text)
	}
	if f, ok := s.Changed(t.Context(), path, "", "BAD\n"); ok {
		t.Errorf("it is told twice: %+v", f)
	}
	allowed = true
	s.Reconsider()
	if f, ok := s.Changed(t.Context(), path, "", "BAD\n"); !ok || len(f.New) != 1 {
		t.Errorf("allowed: %v %+v", ok, f)
	}
	allowed = false
	s.Reconsider()
	for end := time.Now().Add(long); s.States()[0].PID != 0 && time.Now().Before(end); {
		s.Speaks(path)
	}
	if f, ok := s.Changed(t.Context(), path, "", "BAD\n"); !ok || !strings.Contains(f.Unknown, "has not allowed") {
		t.Errorf("taken back: %v %+v", ok, f)
	}
}
