package run

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	configpaths "adze/internal/config/paths"
	"adze/internal/files/git"
	"adze/internal/fleet/batch"
	"adze/internal/llm/models"
	"adze/internal/project/worktree"
	"adze/internal/run/gctuning"
	"adze/internal/run/hostio"
	"adze/internal/sandbox/proc"
	"adze/internal/sessiondb"
	"adze/internal/sessiondb/buffered"
	"adze/internal/sessiondb/lookup"
	"adze/internal/undo"
	"adze/internal/undo/recorder"
	"adze/session"
	"adze/tool"
	"adze/toolset"
	"adze/tui/api"
)

// beside starts what a run does beside the first answer of a model: looking for it before the first
// request would make every start wait. A killed adze may have left something running, which is
// ended; the run ends after that. And where a change is foretold, the files that it may be of are
// looked at.
func (w *wired) beside(easy *sync.Once, ledger *proc.Ledger, observe func(session.Event)) func(session.Event) {
	var once sync.Once
	var running sync.WaitGroup
	w.closers = append(w.closers, running.Wait)
	changes := recorder.Foresight{SideEffects: func(name string) (bool, bool) { return w.set.Load().SideEffects(name) }}
	return func(e session.Event) {
		if answered(e) {
			once.Do(func() {
				running.Go(func() { _, _ = ledger.Reap() }) // what cannot be read now is tried at the next start
				w.servers.wakeUnseen()
			})
		}
		switch e.(type) {
		case session.CallForming, session.ToolQueued:
			easy.Do(gctuning.Ease) // not before: one answer needs no collection
		}
		if w.keeper != nil && changes.Foretold(e) {
			w.keeper.Begin()
		}
		observe(e)
	}
}

// answered reports an event that comes only after a request was sent.
func answered(e session.Event) bool {
	switch e := e.(type) {
	case session.TextDelta, session.ReasoningDelta, session.CallForming, session.Retry, session.TurnEnd:
		return true
	case session.MessageDone:
		return e.Message.Role == session.Assistant
	}
	return false
}

// keepFiles makes what keeps the files of the workspace around calls. A run that saves nothing has
// nothing to undo by.
func (a *app) keepFiles(o *options, w *wired, observe func(session.Event)) {
	s := w.settings
	if o.noSession || o.demo || s.config.Undo.Off || "ADZE_UNDO="+a.Getenv("ADZE_UNDO") == batch.UndoOff {
		return
	}
	kept := s.undoing(s.root.Dir())
	kept.Jobs, kept.Writers = w.shells.Running, &w.writers
	kept.Apart = func(r tool.Record) bool { return r.Tool == "bash" }
	kept.Tell, kept.Mask = func(text string) { observe(session.Notice{Text: text}) }, func(text string) string { return a.keys.Mask().Text(text) }
	kept.Skip = func(path string) bool { return w.cage != nil && w.cage.Box.Stands(filepath.Join(kept.Root, path)) }
	kept.Named = func(ctx context.Context) ([]undo.Named, error) { return recorder.Named(ctx, w.stored, kept.Root) }
	kept.Path = func(name string) (string, bool) {
		p, err := s.root.Resolve(name)
		rel, inside := s.root.Inside(p.Abs())
		return rel, inside && err == nil
	}
	w.showFiles = func(x session.Window) { observe(session.FilesChanged{Window: x}) }
	kept.Failed = func(ctx context.Context, err error) error { return w.uncovered(ctx, err) }
	w.keeper = recorder.NewKeeper(kept)
	w.closers = append(w.closers, func() { _ = w.keeper.Close() }) // the table that it writes is only a cache
}

// live has the files kept before a command starts that changes the workspace itself.
func (w *wired) live(ctx context.Context, c proc.Command) error {
	return w.keeper.Live(ctx, proc.TagOf(c.Tag))
}

// undoing is what undo covers in a folder, and where that is kept.
func (s settings) undoing(root string) recorder.Options {
	c := s.config.Undo
	return recorder.Options{Options: undo.Options{
		Root: root, State: recorder.Store(s.at.Undo, root), Home: configpaths.Absolute(s.home), Apart: []string{s.at.State},
		Limits: undo.Limits{File: int64(c.FileMB) << 20, Total: int64(c.TotalMB) << 20},
	}}
}

// undo puts files back for the user, and has the model told with the next prompt.
func (w *wired) undo(ctx context.Context, wish api.Undo) (api.Undone, error) {
	d, err := w.keeper.Desk(ctx, w.folder())
	if err != nil {
		return api.Undone{}, err
	}
	out, u, err := hostio.Undo(ctx, d, wish, w.session.Said())
	if u != nil {
		w.showFiles(u.Window)
	}
	if u != nil && !wish.Since && u.Done > 0 {
		w.session.Note(recorder.Note(*u))
	}
	return out, err
}

// folder is where the turns of the session are undone.
func (w *wired) folder() recorder.Desk {
	return recorder.Desk{Root: w.settings.root.Dir(), Store: w.stored, Session: w.session.ID(), Running: true, Now: time.Now, Others: w.stored, Writers: &w.writers,
		Git: w.settings.repositories(w.settings.root.Dir())}
}

// Answers to uncovered.
const (
	runOnce = "run it all the same"
	dontRun = "do not run it"
)

// uncovered decides on a call whose files cannot be kept: the user, or where nobody is there
// their configuration.
func (w *wired) uncovered(ctx context.Context, err error) error {
	if w.person.inquire == nil {
		if w.settings.config.Undo.OnFailure == "run" {
			return nil
		}
		return fmt.Errorf(`%w ("undo": {"on_failure": "run"} in the configuration runs it all the same)`, err)
	}
	answer, asked := w.person.inquire(ctx, toolset.Inquiry{Choices: []string{runOnce, dontRun},
		Question: fmt.Sprintf("The files could not be kept as they are, so that what this call changes could not be undone: %v. Run it?", err)})
	if asked != nil || answer != runOnce {
		return err
	}
	return nil
}

// patience has a session go on while its store cannot save.
func (w *wired) patience(stored session.Store) session.Store {
	below, can := stored.(buffered.Again)
	if !can {
		return stored
	}
	w.patient = buffered.New(below, buffered.Options{})
	w.closers = append(w.closers, func() { _ = w.patient.Settle() }) // who judges the run by it tells it
	return w.patient
}

// snapshots is the keeper as a session takes it: nil where there is none.
func (w *wired) snapshots() session.Snapshots {
	if w.keeper == nil {
		return nil
	}
	return w.keeper
}

// Undoing opens a session and its folder, to put files back. Who only looks needs nothing that can
// be written; where it can be, what was interrupted is finished first.
func (a *app) Undoing(ctx context.Context, look bool, pick func([]session.Head) (session.ID, error), use func(recorder.Desk) error) error {
	w := &wired{}
	defer w.close()
	s, err := a.settle(&options{}, w)
	if err != nil {
		return err
	}
	if url, err := a.far.URL(a.Getenv); look && err == nil && url == "" && !writable(s.at.State, filepath.Join(s.at.State, "sessions.db"), s.at.Undo, recorder.Store(s.at.Undo, s.root.Dir())) {
		return a.Store(ctx, func(logs *sessiondb.Store) error { return a.desk(ctx, s, w, true, logs, pick, use) })
	}
	stored, err := a.openStore(ctx, &options{}, s.at)
	if err != nil {
		return err
	}
	w.closers = append(w.closers, func() { stored.Close() })
	return a.desk(ctx, s, w, false, stored, pick, use)
}

// writable reports that each path can be written, or is not there.
func writable(paths ...string) bool {
	return !slices.ContainsFunc(paths, func(path string) bool {
		err := unix.Access(path, unix.W_OK)
		return err != nil && !errors.Is(err, fs.ErrNotExist)
	})
}

// desk opens the folder of a session that is picked.
func (a *app) desk(ctx context.Context, s settings, w *wired, look bool, stored session.Store, pick func([]session.Head) (session.ID, error), use func(recorder.Desk) error) error {
	heads, err := stored.List(ctx)
	if err != nil {
		return fmt.Errorf("%w: %w", sessiondb.ErrOpen, err)
	}
	id, err := pick(heads)
	if err == nil && !look {
		err = lookup.Lock(ctx, stored, id)
	}
	if err != nil {
		return err
	}
	kept := s.undoing(s.root.Dir())
	for _, h := range heads {
		if cwd := h.Info().Cwd; h.ID == id && cwd != "" {
			kept = s.undoing(cwd)
		}
	}
	kept.Look = look
	kept.Tell = func(text string) { a.tellLosses([]string{text}) }
	files := recorder.NewKeeper(kept)
	w.closers = append(w.closers, func() { _ = files.Close() })
	d, err := files.Desk(ctx, recorder.Desk{Root: kept.Root, Store: stored, Session: id, Now: time.Now, Named: func(ctx context.Context) ([]undo.Named, error) {
		return recorder.Named(ctx, stored, kept.Root)
	}, Git: s.repositories(kept.Root), Others: stored, Look: kept.Look})
	if err == nil && !kept.Look {
		_, err = d.Finish(ctx)
	}
	if err != nil {
		return err
	}
	return use(d)
}

// trees is what makes work trees for runs that begin in a folder.
func (s settings) trees(dir string) worktree.Desk {
	return worktree.Desk{Git: s.repositories(dir), State: s.at.State, Folder: s.config.Worktree.Folder, Copy: s.config.Worktree.Copy}
}

// repositories is git for what the user does in a folder.
func (s settings) repositories(dir string) git.Git {
	env := proc.Environ(os.Environ(), proc.EnvPolicy{Allow: s.config.Environment, Secrets: models.KeyNames(s.config)})
	return git.Git{Env: proc.Outside(env, dir), Timeout: checkoutTime}
}

// checkoutTime bounds one git process: a checkout of a large tree on a slow disk.
const checkoutTime = 10 * time.Minute

// worktree goes into the work tree that the user names, and keeps the one that a run works in
// from being removed meanwhile.
func (s settings) worktree(o *options, w *wired, dir string) (string, error) {
	if o.worktree == "" {
		release, err := worktree.Hold(s.at.State, dir)
		if err == nil {
			w.closers = append(w.closers, release)
		}
		return dir, err
	}
	made, err := s.trees(dir).Make(context.Background(), dir, o.worktree)
	if err != nil {
		return "", err
	}
	w.closers, w.notices = append(w.closers, made.Release), append(w.notices, made.Notices...)
	o.worktree, o.Cwd = "", made.Dir // what this run goes on with works there, too
	return made.Dir, nil
}

// Worktrees is what looks after them, in this folder.
func (a *app) Worktrees(use func(d worktree.Desk, dir string) error) error {
	dir, err := a.Here()
	if err != nil {
		return err
	}
	s := settings{own: &a.own, known: a.keys.Mask, at: configpaths.Of(a.Getenv)}
	if s.config, err = a.keys.Load(a.ConfigFile()); err != nil {
		return err
	}
	return use(s.trees(dir), dir)
}

// sessions lists what is stored, and remembers it: the folder of one that is opened is in it.
func (w *wired) sessions(ctx context.Context) ([]api.SessionHead, error) {
	out, err := hostio.Sessions(ctx, w.stored)
	if err != nil {
		return nil, err
	}
	trees := worktree.Names(w.settings.at.State)
	for i := range out {
		out[i].Worktree = trees(out[i].Cwd)
	}
	w.listed.Lock()
	defer w.listed.Unlock()
	w.heads = out
	return out, nil
}

// entitle has a model name the session after its first turn, beside what comes next, where the
// configuration says which; if false, it has not. A title that does not come is none: the session
// is listed by its first prompt. named is told the one that came.
func (a *app) entitle(o *options, w *wired, asked string, r session.Result, observe func(session.Event), named func(title string)) bool {
	name := w.settings.config.TitleModel
	if name == "" || r.Cause != session.CauseDone || o.noSession || o.demo || w.resumed {
		return false
	}
	m, err := a.models(w.settings.config).Named(name)
	if err != nil {
		observe(session.Notice{Text: fmt.Sprintf("title_model: %v", err)})
		return true
	}
	ctx, cancel := context.WithCancel(context.Background())
	var naming sync.WaitGroup
	w.closers = append(w.closers, func() { cancel(); naming.Wait() })
	naming.Go(func() {
		mask := a.keys.Mask()
		title, used, err := m.Title(ctx, mask.Text(asked), mask.Text(r.Text))
		w.session.Spend(m.Provider.Name(), m.Name, used)
		if err != nil {
			return
		}
		title = mask.Text(title)
		err = a.Change(ctx, func(logs *sessiondb.Store) error { // without it the session has none
			return logs.Owner().Label(ctx, w.session.ID(), sessiondb.Label{Kind: sessiondb.TitleLabel, Value: title, By: sessiondb.ByModel})
		})
		if err == nil && named != nil {
			named(title)
		}
	})
	return true
}
