package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"adze/internal/cmd/print"
	"adze/internal/config"
	"adze/internal/config/credentials"
	"adze/internal/config/paths"
	"adze/internal/editors/lsp"
	"adze/internal/files/ownfile"
	"adze/internal/files/workspace"
	"adze/internal/llm/models"
	"adze/internal/policy/policyconfig"
	projectagents "adze/internal/project/agents"
	"adze/internal/project/instructions"
	"adze/internal/project/plan"
	"adze/internal/project/trust"
	"adze/internal/sandbox"
	"adze/internal/sandbox/proc"
	"adze/internal/sessiondb"
	"adze/internal/sessiondb/buffered"
	"adze/internal/sessiondb/lookup"
	sessiondboutputs "adze/internal/sessiondb/outputs"
	"adze/internal/text/redact"
	"adze/internal/undo/recorder"
	"adze/session"
	"adze/tool"
)

// wired is everything that one run is made of, connected.
type wired struct {
	session *session.Session
	set     liveSet
	servers *mcpServers  // nil: there are none
	code    *lsp.Servers // nil: there are none
	head    print.Head
	notices []string
	losses  []string // those of the notices that tell what a damaged store lost
	prompt  string   // what to ask when the user gave no prompt: the demo's
	resumed bool     // it went on with a conversation
	closers []func()
	tried   func(patch string) error // keeps what commands that ran aside changed; if nil, nobody wants it
	ledger  *proc.Ledger
	cage    *sandbox.Cage
	agents  *projectagents.Agents
	room    *instructions.Room
	person  person
	patient *buffered.Store // what waits to be saved; if nil, nothing ever does
	plan    *plan.Desk
	keeper  *recorder.Keeper // nil: nothing is kept
	shells  recorder.Shells
	writers recorder.Writers // what calls were seen to change
	// showFiles has panes show what became of files.
	showFiles func(session.Window)
	chosen    string      // the mode that the user chose for this folder; if empty, none
	past      lookup.Past // of the session that is gone on with
	seat
}

// close ends what the run started, last first, once.
func (w *wired) close() {
	for _, end := range slices.Backward(w.closers) {
		end()
	}
	w.closers = nil
}

// keepPatch has a file get what commands that ran aside changed of texts. It is empty where there
// is none.
func (w *wired) keepPatch(name string) error {
	if name == "" {
		return nil
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return misuse("name a file in a folder that is there", "--try-patch: %v", err)
	}
	w.closers = append(w.closers, func() { _ = f.Close() })
	w.tried = func(patch string) error {
		_, err := f.WriteString(patch) // one call, so that patches of subagents do not mix
		return err
	}
	return nil
}

// wire connects a run: configuration, folder, store, model, tools, gate, session. On an error
// everything that was opened is closed again.
func (a *app) wire(ctx context.Context, o *options, observe func(session.Event), who person) (w *wired, err error) {
	w = &wired{person: who}
	observe = a.own.watch(w, observe)
	if err := w.keepPatch(o.tryPatch); err != nil {
		return w, err
	}
	defer func() {
		if err != nil {
			w.close()
			a.tellLosses(slices.Concat(w.losses, w.settings.config.Warnings())) // the next start finds a sound store; a misspelt name may be why
		}
	}()
	if err := proc.CheckLimits(); err != nil {
		return w, err
	}
	s, err := a.settle(o, w)
	if err != nil {
		return w, err
	}
	w.settle(ctx, o, s, a.Getenv("HOME"), observe)
	logs := a.openLogs(ctx, o, s, w)
	a.keepFiles(o, w, observe)
	model, err := a.modelOf(ctx, o, w, logs)
	if err != nil {
		return w, err
	}
	repairer, err := a.repairer(s.config)
	if err != nil {
		return w, err
	}
	staff, err := employ(a, o, s, model, w)
	if err != nil {
		return w, err
	}
	offer, err := staff.equip(ctx)
	if err != nil {
		return w, err
	}
	system, err := s.system(ctx, o, model.Profile.Prompt, w)
	if err != nil {
		return w, err
	}
	stored, id, resumed, err := logs()
	if err != nil {
		return w, err
	}
	w.jobs = staff.deps.Shell.Jobs()
	outputs := sessiondboutputs.Into(filepath.Join(s.at.Spill, string(id)))
	outputs.Mask = a.keys.Mask
	keep := outputs.Open
	if s.hide != nil {
		keep = outputs.OpenMasked // the shell masks what it passes on
	}
	staff.deps.Shell.Spill, staff.spill = keep, keep
	policy, err := policyconfig.New(s.config, o.Flags, w.ground(outputs.Dir), who.ask)
	if err != nil {
		return w, err
	}
	w.gate, w.stored, w.plan.File = policy, stored, o.planFile(s, id)
	if err := w.introduce(ctx, id, model); err != nil {
		return w, err
	}
	w.tellProject(!o.print && o.byHand == nil)
	c := a.requests(w, model, system, offer)
	c.ID, c.Store, c.Mark, c.Gate, c.Limits, c.Wait = id, w.patience(stored), redact.Mark, s.files.Gate(policy), s.limits(o), a.wait
	c.Snapshots = w.snapshots()
	c.Clip = tool.Clip{Lines: s.config.Output.Lines, Bytes: s.config.Output.Bytes, Spill: outputs.Save}
	c.Observe, c.Repairer, c.Effort, c.Accept, c.Schema = w.beside(&a.easy, w.ledger, a.watch.session(w, id, a.Getenv, observe)), repairer, o.effort, o.answer.Judge(), o.answer.Grammar()
	return w, staff.open(ctx, c, resumed)
}

// introduce says what this run is. Where a sandbox is required and not there, it is none.
func (w *wired) introduce(ctx context.Context, id session.ID, model models.Model) error {
	if err := w.cage.Check(ctx); err != nil {
		return misuse(sandboxHint, "--sandbox required: %v", err)
	}
	walls := w.cage.Now(ctx)
	w.notices = append(w.notices, w.cage.Box.Unheld(walls)...)
	w.head = print.Head{
		Version: Version, Session: string(id), Cwd: w.settings.root.Dir(), Model: model.Name, Provider: model.Provider.Name(),
		Tools: w.set.Names(), PermissionMode: string(w.gate.Mode()), Sandbox: print.Sandbox{Level: string(walls.Level), How: walls.How},
	}
	return nil
}

// settings is what is known before anything is opened but the workspace.
type settings struct {
	at     paths.Places
	home   string // the user's; if empty, it is not known
	file   string // the user's configuration
	config config.Config
	root   *workspace.Root
	says   config.Project               // what the project's own file says
	owner  config.Managed               // what the owner of this machine says
	survey func() ([]trust.Item, error) // what the project would run, looked at once
	runs   func() []trust.Item          // what of the project language servers would run; if nil, none may run
	files  *credentials.Files           // learns what is secret in them
	hide   func() *redact.Masker        // hides secrets from the model; if nil, it sees them
	known  func() *redact.Masker        // knows the secrets of the user
	logins loginDesk                    // at MCP servers
	own    *ownFiles                    // that say what this process may do
}

func (a *app) settle(o *options, w *wired) (settings, error) {
	if err := a.own.trusted(); err != nil {
		return settings{}, err
	}
	s := settings{own: &a.own, known: a.keys.Mask, at: paths.Of(a.Getenv), home: a.Getenv("HOME")}
	s.file = config.File(a.Getenv, s.at.Config)
	a.own.begin(s.at, s.file)
	var err error
	if s.config, err = a.keys.Load(s.file); err != nil {
		return s, err
	}
	for _, dir := range []string{s.at.Config, s.at.State} {
		var foreign *ownfile.Error
		if err := ownfile.Mine(0).Own(dir); errors.As(err, &foreign) {
			if dir == s.at.State {
				return s, foreign
			}
			return s, misuse(foreign.Hint, "%v", foreign)
		}
	}
	if s.owner, err = config.LoadManaged(s.at.Managed); err != nil {
		return s, err
	}
	w.notices = append(w.notices, s.config.Warnings()...)
	if !s.config.ShowSecrets {
		s.hide = a.keys.Mask
	}
	if err := s.config.RequireSandbox(s.owner, o.Sandbox); err != nil {
		return s, err
	}
	o.merge(&s.config)
	if _, err := sandbox.ParseSetting(s.config.Sandbox.Use); err != nil {
		return s, misuse("required runs commands in the sandbox only, off never does", "%s: %v", s.config.Origin("sandbox"), err)
	}
	dir, err := a.folder(o, w)
	if err == nil {
		dir, err = s.worktree(o, w, dir)
	}
	if err != nil {
		return s, err
	}
	if s.root, err = workspace.OpenWith(dir, workspace.Options{FS: o.files}); err != nil {
		return s, misuse("name a folder that exists", "%v", err)
	}
	w.closers = append(w.closers, func() { s.root.Close() })
	s.logins = logins(a.Getenv, s.root.Dir(), a.keys.Hide)
	s.files = &credentials.Files{Ring: a.keys, Root: s.root.Dir()}
	s.files.Begin()
	if s.useLanguageServers(o) {
		s.runs = s.sdks
	}
	s.survey = sync.OnceValues(s.project().Survey)
	if s.says, err = config.LoadProject(s.root.Dir()); err != nil {
		return s, err
	}
	if warning := s.says.Warning(); warning != "" {
		w.notices = append(w.notices, warning)
	}
	return s, nil
}

// merge lays the flags over the file.
func (o *options) merge(cfg *config.Config) {
	set := func(given bool, name string, apply func()) {
		if given {
			apply()
			cfg.Set(name, "flag --"+name)
		}
	}
	set(o.model != "", "model", func() { cfg.Model = o.model })
	set(o.Mode != "", "permission_mode", func() { cfg.PermissionMode = o.Mode })
	set(o.Sandbox != "", "sandbox", func() { cfg.Sandbox.Use = o.Sandbox })
	set(o.given != nil && o.given("max-turns"), "max_turns", func() { cfg.MaxTurns = o.maxTurns })
	set(o.maxTime > 0, "max_time", func() { cfg.MaxTime = config.Duration(o.maxTime) })
	if o.inline {
		cfg.Interface.Inline = true
		cfg.Set("interface", "flag --inline")
	}
}

// folder decides where to work: the demo's copy, $AGENT_WORKSPACE_ROOT, --cwd, or here.
func (a *app) folder(o *options, w *wired) (string, error) {
	if o.demo {
		return demoFolder(o, w)
	}
	if root := a.Getenv("AGENT_WORKSPACE_ROOT"); root != "" && o.Cwd == "" {
		return root, nil
	}
	if o.Cwd != "" {
		return o.Cwd, nil
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", misuse("change to a folder that exists, or use --cwd", "the current folder cannot be found: %v", err)
	}
	return dir, nil
}

// openLogs opens the store and picks the session beside the caller: both that and the making of the
// tools take about a millisecond of a start. The function it returns waits for the answer.
func (a *app) openLogs(ctx context.Context, o *options, s settings, w *wired) func() (session.Store, session.ID, bool, error) {
	type opened struct {
		store   session.Store
		id      session.ID
		resumed bool
		err     error
	}
	wait := make(chan opened, 1)
	go func() {
		var r opened
		if r.store, r.err = a.openStore(ctx, o, s.at); r.err == nil {
			r.id, r.resumed, r.err = lookup.Pick(ctx, lookup.Wish{ID: o.resume, Last: o.resumeLast, Fork: o.fork, As: o.as}, r.store, s.root.Dir())
		}
		if r.err == nil {
			r.err = lookup.Lock(ctx, r.store, r.id)
		}
		wait <- r
	}()
	answer := sync.OnceValue(func() opened {
		r := <-wait
		w.losses = lookup.Losses(r.store)
		w.notices = slices.Concat(w.notices, w.losses, doubts(ctx, r.store))
		return r
	})
	w.closers = append(w.closers, func() {
		if r := answer(); r.store != nil {
			r.store.Close()
		}
	})
	return func() (session.Store, session.ID, bool, error) {
		r := answer()
		return r.store, r.id, r.resumed, r.err
	}
}

// open starts or resumes the session, with its hooks.
func (w *wired) open(ctx context.Context, c session.Config, resumed bool, staff *staff) error {
	if err := staff.app.hook(staff.options, w, &c); err != nil {
		return err
	}
	staff.session = c
	if !resumed {
		w.session = session.New(c)
		return nil
	}
	s, err := session.Resume(ctx, c)
	if doubts := lookup.Doubts(ctx, w.stored, c.ID); doubts != "" {
		w.losses, w.notices = append(w.losses, doubts), append(w.notices, doubts)
	}
	if errors.Is(err, session.ErrLocked) || errors.Is(err, session.ErrNotFound) {
		return err
	}
	if err != nil {
		return fmt.Errorf("%w: %w", sessiondb.ErrOpen, err)
	}
	w.session, w.resumed = s, len(s.History()) > 0
	return nil
}
