package recorder

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"adze/internal/files/git"
	"adze/internal/sessiondb"
	"adze/internal/testkit/effort"
	"adze/internal/undo"
	"adze/session"
	"adze/tool"
)

// dying says in a variable what the process does and at which moment it is killed: see killed.
const dying = "ADZE_REWIND_DIES"

func TestMain(m *testing.M) {
	if order := os.Getenv(dying); order != "" {
		if err := killed(order); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// killed is a process that does an undo, a redo, or what the next adze does, in the folder that it
// is started in. It is killed at the moment of a number: before and after each entry of the log,
// each file of the journal and each step.
func killed(order string) error {
	var what, top string
	var moments int64
	if _, err := fmt.Sscan(order, &what, &moments, &top); err != nil {
		return err
	}
	var passed atomic.Int64
	p := &place{top: top, moment: func() {
		if passed.Add(1) > moments {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}}
	err := p.do(context.Background(), what)
	fmt.Print(passed.Load())
	return err
}

// place is a folder with a session whose turns are undone and redone.
type place struct {
	top    string
	moment func()
}

// dyingStore is a store at whose entries the process may be killed.
type dyingStore struct {
	*sessiondb.Store
	moment func()
}

func (s dyingStore) Append(ctx context.Context, id session.ID, entries ...session.Entry) error {
	s.moment()
	err := s.Store.Append(ctx, id, entries...)
	s.moment()
	return err
}

// with opens all as adze undo does.
func (p *place) with(ctx context.Context, use func(Manager) error) error {
	logs, err := sessiondb.Open(ctx, filepath.Join(p.top, "sessions.db"), sessiondb.Options{})
	if err != nil {
		return err
	}
	defer logs.Close()
	root := filepath.Join(p.top, "work")
	k := NewKeeper(Options{Options: undo.Options{Root: root, State: filepath.Join(p.top, "state"), Limits: undo.Limits{KeepFree: 1}, Moment: p.moment}})
	defer k.Close()
	d, err := k.CompleteManager(ctx, Manager{Root: root, Store: dyingStore{logs, p.moment}, Session: "s", Now: time.Now, Git: git.Git{Env: os.Environ()}})
	if err != nil {
		return err
	}
	return use(d)
}

func (p *place) do(ctx context.Context, what string) error {
	return p.with(ctx, func(d Manager) error {
		if what == "finish" {
			_, err := d.Finish(ctx)
			return err
		}
		plan, err := d.Plan(ctx, UndoOptions{Redo: what == "redo", Git: true})
		if err == nil {
			_, err = plan.Apply(ctx)
		}
		return err
	})
}

// dies has a process of its own do it, which is killed at a moment, and reports how many moments
// there were otherwise.
func (p *place) dies(t *testing.T, what string, moment int) (ended int, died bool) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %d %s", dying, what, moment, p.top))
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL {
		return 0, true
	}
	if err == nil {
		ended, err = strconv.Atoi(string(out))
	}
	if err != nil {
		t.Fatalf("%s at %d: %v\n%s", what, moment, err, out)
	}
	return ended, false
}

// sh runs a script in the folder, with a git that knows nobody's settings.
func (p *place) sh(t *testing.T, script string) string {
	t.Helper()
	cmd := exec.Command("sh", "-ec", script)
	cmd.Dir = filepath.Join(p.top, "work")
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b", "HOME="+p.top, "GIT_OPTIONAL_LOCKS=0")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
	return string(out)
}

// shape is what stands in the folder, with what git says of refs, HEAD and index.
func (p *place) shape(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	root := filepath.Join(p.top, "work")
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.Name() == ".git" {
			return fs.SkipDir
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		content := ""
		if info.Mode().IsRegular() {
			raw, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			content = string(raw)
		}
		fmt.Fprintf(&b, "%s %v %q\n", path, info.Mode(), content)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String() + p.sh(t, "git for-each-ref; git symbolic-ref HEAD; git ls-files -s; git stash list; git fsck --no-dangling 2>&1")
}

// newPlace is a repository in which one turn of a session has changed files and refs.
func newPlace(t *testing.T, work string) (p *place, before, after string) {
	t.Helper()
	for _, program := range []string{"git", "sh"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(program + " is not installed")
		}
	}
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p = &place{top: top, moment: func() {}}
	if err := os.Mkdir(filepath.Join(top, "work"), 0o755); err != nil {
		t.Fatal(err)
	}
	p.sh(t, "git init -q -b main; printf a > a; printf b > b; mkdir d; printf c > d/c; git add .; git commit -qm one; git branch old; printf dirty > b")
	before = p.shape(t)
	err = p.with(t.Context(), func(d Manager) error {
		return p.turn(d, "m1", func() {
			p.sh(t, work)
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return p, before, p.shape(t)
}

// turn logs a turn that does something.
func (p *place) turn(d Manager, id string, work func()) error {
	ctx := context.Background()
	record := tool.Record{Message: id, Call: "c1"}
	log := func(kind session.EntryType, v any) error {
		data, err := json.Marshal(v)
		if err != nil {
			return err
		}
		return d.Store.Append(ctx, d.Session, session.Entry{Type: kind, Time: time.Now(), Data: data})
	}
	take := func() (*session.State, error) {
		m, err := d.Files.Take(ctx)
		return &session.State{Root: d.Root, Mark: m.String(), Time: time.Now().UnixNano()}, err
	}
	from, err := take()
	if err == nil {
		err = errors.Join(log(session.MessageEntry, user(id, "work")), log(session.IntentEntry, session.Intended{Record: record, Undo: from}))
	}
	if err != nil {
		return err
	}
	work()
	to, err := take()
	if err != nil {
		return err
	}
	return errors.Join(log(session.OutcomeEntry, session.Ended{Outcome: tool.Outcome{Call: record.Call, Record: record},
		Undo: &session.Window{Before: *from, After: to, Changes: []session.FileChange{{Path: "a"}}}}), log(session.EndEntry, session.Result{}))
}

// undone is what the log says, after what was interrupted is finished.
func (p *place) undone(t *testing.T) (undone bool) {
	t.Helper()
	err := p.with(t.Context(), func(d Manager) error {
		if _, err := d.Finish(t.Context()); err != nil {
			return err
		}
		past, err := Read(t.Context(), d.Store, d.Session)
		if err != nil {
			return err
		}
		if past.Turns[0].Pending {
			t.Error("it is pending")
		}
		undone = past.Turns[0].Undone
		_, err = d.Store.(dyingStore).Verify(t.Context(), d.Session)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return undone
}

// TestATurnCanBeUndoneAfterAKillAtAnyMoment kills undo and redo at their moments, and what finishes
// them once more: then the log says what stands in the folder and in git's refs, and the turn is
// undone or redone as ever. It goes through the first and the last moments, in which log and
// journal are written, and some of the steps; with ADZE_TESTS=long through all.
func TestATurnCanBeUndoneAfterAKillAtAnyMoment(t *testing.T) {
	p, before, after := newPlace(t, "printf A > a; git add a; git commit -qm two; git branch new; git branch -D old -q; rm -r d; printf x > x; chmod 600 b; git stash -q; git checkout -qb other")
	is := map[bool]string{true: before, false: after}
	most := map[string]int{}
	for _, what := range []string{"undo", "redo"} {
		most[what], _ = p.dies(t, what, math.MaxInt32)
	}
	killed := 0
	kill := func(what string, n int) {
		t.Helper()
		if _, died := p.dies(t, what, n); died {
			killed++
		}
		if n%3 == 0 {
			_, _ = p.dies(t, "finish", n/3)
		}
		undone := p.undone(t)
		when := fmt.Sprintf("%s, killed at %d of %d (undone: %v)", what, n, most[what], undone)
		if got := p.shape(t); got != is[undone] {
			t.Fatalf("%s: the folder is\n%s\nwant\n%s", when, got, is[undone])
		}
		if undone != (what == "undo") {
			if err := p.do(t.Context(), what); err != nil {
				t.Fatalf("%s: %v", when, err)
			}
			if got := p.shape(t); got != is[!undone] {
				t.Fatalf("%s: done again, the folder is\n%s\nwant\n%s", when, got, is[!undone])
			}
		}
		if left, _ := filepath.Glob(filepath.Join(p.top, "state", "*-*")); len(left) > 0 {
			t.Errorf("%s: left in the store: %v", when, left)
		}
	}
	wanted := 0
	for n := range max(most["undo"], most["redo"]) {
		for _, what := range []string{"undo", "redo"} {
			edge := n < 4 || n >= most[what]-7
			if stride := effort.Rounds(8, 8, 1); !edge && n%stride != 0 {
				continue
			}
			if n < most[what] {
				wanted++
			}
			kill(what, n)
		}
	}
	if killed != wanted || wanted < 30 {
		t.Errorf("%d processes were killed, want %d and at least 30", killed, wanted)
	}
}
