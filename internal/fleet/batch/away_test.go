package batch

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adze/session"
)

// shelf is an Away in memory.
type shelf struct {
	p       Progress
	patches map[string][]byte
	lost    bool
	saved   func()
}

func (s *shelf) Progress() Progress { return s.p }

func (s *shelf) Keep(_ context.Context, p Progress) error {
	if s.lost {
		return errors.New("somebody else has it")
	}
	if s.p = p; p.Saved != "" {
		s.saved()
	}
	return nil
}

func (s *shelf) Save(_ context.Context, path string) (string, error) {
	raw, err := os.ReadFile(path)
	s.patches[string(raw)] = raw
	return string(raw), err
}

func (s *shelf) Fetch(_ context.Context, name, to string) error {
	return os.WriteFile(to, s.patches[name], 0o600)
}

// begunSession is a store with one session that has not ended, once its file is there.
type begunSession struct{ path string }

func (b begunSession) Last(context.Context, string, time.Time) (session.ID, *session.Result, error) {
	if _, err := os.Stat(b.path); err != nil {
		return "", nil, nil
	}
	return "s", nil, nil
}

// TestATaskGoesOnOnAnotherMachine: what had changed when the machine was lost is in the new clone,
// the session goes on, and what lost the task cannot say anything more.
func TestATaskGoesOnOnAnotherMachine(t *testing.T) {
	const script = `cat >/dev/null; echo "$*" >>../../../args
case "$*" in *--resume*) echo two >>new; printf '{"type":"result","cause":"done","text":"t","session":"s"}\n'; exit;; esac
echo one >new; echo begun >BEGUN
printf '{"type":"tool_start","name":"bash"}\n{"type":"message"}\n'
tail -f /dev/null`
	b := fake(t, "", 1)
	mark := filepath.Join(t.TempDir(), "begun")
	program := "#!/bin/sh\n" + strings.ReplaceAll(script, "BEGUN", mark)
	if err := os.WriteFile(b.Program, []byte(program), 0o755); err != nil {
		t.Fatal(err)
	}
	kept := &shelf{patches: map[string][]byte{}}
	ctx, lose := context.WithCancelCause(t.Context())
	b.Away, b.Session, b.Sessions = kept, "run-1", begunSession{mark}
	kept.saved = func() { lose(ErrLost) }
	if _, err := b.Do(ctx); !errors.Is(err, ErrLost) {
		t.Fatal(err)
	}
	if args, _ := os.ReadFile(filepath.Join(b.Out, "args")); !strings.Contains(string(args), "--session-id run-1") {
		t.Errorf("%s", args)
	}
	kept.saved = func() {}
	other := fake(t, "", 1)
	other.Program, other.Tasks, other.Away, other.Sessions = b.Program, b.Tasks, kept, b.Sessions
	r, err := other.Do(t.Context())
	if err != nil || !r.OK || r.Changed != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	if patch, _ := os.ReadFile(filepath.Join(other.Out, r.Patch)); !strings.Contains(string(patch), "+one\n+two\n") {
		t.Errorf("%s", patch)
	}
	if args, _ := os.ReadFile(filepath.Join(other.Out, "args")); !strings.Contains(string(args), "--resume s") {
		t.Errorf("%s", args)
	}
	kept.lost, kept.p = true, Progress{}
	if _, err := other.Do(t.Context()); !errors.Is(err, ErrKept) {
		t.Error(err)
	}
}

// limitedSession is a store whose session ended by the limit of its provider.
type limitedSession struct{}

func (limitedSession) Last(context.Context, string, time.Time) (session.ID, *session.Result, error) {
	return "s", &session.Result{Cause: session.CauseProvider, Limited: new(time.Minute)}, nil
}

// TestWhatWasPutOffIsTriedAgain: what a limit of the provider ended is no outcome that is kept; the
// session goes on the next time, in another clone, with what had changed.
func TestWhatWasPutOffIsTriedAgain(t *testing.T) {
	const script = `cat >/dev/null
case "$*" in *--resume*) cat new >&2; printf '{"type":"result","cause":"done","text":"t","session":"s"}\n'; exit;; esac
echo one >new
printf '{"type":"tool_start","name":"bash"}\n{"type":"result","cause":"provider","message":"slow down","retry_after_ms":90000,"session":"s"}\n'`
	kept := &shelf{patches: map[string][]byte{}, saved: func() {}}
	for _, want := range []string{"provider", "done"} {
		b := fake(t, script, 1)
		b.Away, b.Session, b.Sessions = kept, "run-1", limitedSession{}
		r, err := b.Do(t.Context())
		if err != nil || r.Cause != want {
			t.Fatalf("%+v, %v; want %s", r, err, want)
		}
		if wait, limited := r.Limited(); limited != (want == "provider") || limited && wait != 90*time.Second {
			t.Errorf("%s: %v %v", want, wait, limited)
		}
		if want == "done" && r.Changed != 1 {
			t.Errorf("%d files have changed", r.Changed)
		}
	}
}

// A branch that a task itself pushed, before its machine was lost or its run died, is taken up
// again by the next try; another one stays as it is.
func TestATaskTakesItsOwnBranchUpAgain(t *testing.T) {
	const script = `cat >/dev/null; date +%s%N >new; printf '{"type":"result","cause":"done","text":"t","session":"s"}\n'`
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not there")
	}
	repo := t.TempDir()
	gitIn(t, repo, "init", "-q", "-b", "main")
	gitIn(t, repo, "commit", "-q", "--allow-empty", "-m", "first")
	push := func(p Progress, env ...string) (Result, Progress) {
		b := fake(t, script, 1)
		kept := &shelf{p: p, patches: map[string][]byte{}, saved: func() {}}
		b.Tasks = []Task{{ID: "a", Repo: repo, Prompt: "do it", Branch: "made"}}
		if env == nil {
			env = []string{"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b"}
		}
		b.Push, b.Away, b.Env = true, kept, append(b.Env, env...)
		r, err := b.Do(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return r, kept.p
	}
	first, kept := push(Progress{})
	if !first.OK || len(kept.Pushing) != 1 || kept.Pushing[0] != first.Pushed {
		t.Fatalf("%+v, %+v", first, kept.Pushing)
	}
	second, kept := push(Progress{Pushing: kept.Pushing})
	if !second.OK || second.Pushed == first.Pushed || len(kept.Pushing) != 2 {
		t.Fatalf("%+v, %+v", second, kept.Pushing)
	}
	gitIn(t, repo, "rev-parse", "--verify", "--quiet", second.Pushed+"^{commit}")
	gitIn(t, repo, "branch", "-f", "made", "main") // somebody else has it now
	if third, _ := push(Progress{Pushing: kept.Pushing}); third.OK || third.Cause != CausePush || !strings.HasPrefix(third.Hint, "choose another branch") {
		t.Errorf("%+v", third)
	}
	gitIn(t, repo, "branch", "-D", "made")
	if err := os.WriteFile(filepath.Join(repo, ".git", "hooks", "pre-receive"), []byte("#!/bin/sh\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if refused, _ := push(Progress{}); refused.Cause != CausePush || !strings.HasPrefix(refused.Hint, "check that git can push") {
		t.Errorf("%+v", refused)
	}
	nobody := []string{"GIT_AUTHOR_NAME=", "GIT_COMMITTER_NAME="}
	if unnamed, _ := push(Progress{}, nobody...); unnamed.Cause != CausePush || !strings.HasPrefix(unnamed.Hint, "set user.name") {
		t.Errorf("%+v", unnamed)
	}
}
