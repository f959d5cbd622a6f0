package conversation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/llm/models"
	"adze/internal/osfile/ownfile"
	"adze/internal/project/hooks"
	"adze/internal/project/trust"
	"adze/internal/run/guard"
	"adze/internal/run/settings"
	"adze/internal/sandbox/proc"
	"adze/internal/text/usage"
	"adze/session"
	"adze/session/api"
)

// newHooks returns the engine for hooks by the machine's owner, the user, and the project with the
// user's consent. It is nil in an adze that a hook has started, and in the demo.
func newHooks(s *settings.Settings, g *guard.Guard) (*hooks.Engine, error) {
	if s.Request.Demo || s.Getenv(hooks.Nested) != "" {
		return nil, nil
	}
	var programs []hooks.Program
	for _, from := range []struct {
		dir, layer string
		owner      int
	}{{filepath.Dir(s.Places.Managed), "managed", 0}, {s.Places.Config, settings.PersonLayer, os.Getuid()}} {
		path := filepath.Join(from.dir, hooks.File)
		own, err := hooks.Load(path, from.owner, from.layer)
		var foreign *ownfile.Error
		if errors.As(err, &foreign) {
			return nil, usage.Mistake(foreign.Hint, "%s: %s", path, foreign.ReasonAfter(path))
		}
		if err != nil {
			return nil, usage.Mistake("mend it, or remove it; adze help hooks says what it holds", "%s: %v", path, err)
		}
		if from.layer == settings.PersonLayer {
			for n, p := range own {
				own[n].May = g.MayTake(trust.Hook, p.Name, p.Argv, p.Shell)
			}
		}
		programs = append(programs, own...)
	}
	e := hooks.New(s.Root.Dir())
	if programs = append(programs, s.ProjectHooks()...); len(programs) > 0 {
		e.Env = proc.Environ(os.Environ(), proc.EnvPolicy{Allow: s.Config.Environment, Secrets: models.KeyNames(s.Config)})
	}
	e.Supervisor = g.Supervisor()
	if s.Hide != nil {
		e.Mask = func(text string) string { return s.Hide().Text(text) }
	}
	e.Mode = func() string { return string(g.Gate.Mode()) }
	e.Use(programs...)
	g.Followed.Store(slices.ContainsFunc(programs, func(p hooks.Program) bool { return p.Event == session.HookAfter }))
	return e, nil
}

// Named lists the slash commands for the interface.
func (w *Conversation) Named() []api.Named {
	out := w.Servers.Prompts()
	for _, i := range w.Menu.Listed() {
		out = append(out, api.Named{Name: i.Label(), Args: i.FrontMatter.Text("argument-hint"), Help: i.FrontMatter.Text("description"), From: i.Path})
	}
	return out
}

// maxTold limits the names in one line.
const maxTold = 8

// tellProject adds a notice about project items that wait for the user's consent.
func (w *Conversation) tellProject(here bool) {
	items, err := w.Settings.Survey()
	if err != nil {
		w.Notices = append(w.Notices, err.Error())
	}
	for _, i := range items {
		if i.State != trust.Allowed {
			w.Head.Ignored++
		}
		if i.State == trust.Unused && i.Hook != nil {
			w.Notices = append(w.Notices, "adze does not run "+i.ID+" of this project: "+i.Idle)
		}
	}
	open, mine := trust.Open(items), func(i trust.Item) bool { return i.Mine }
	w.tellOpen("of this project, ignored until you allow it", slices.DeleteFunc(slices.Clone(open), mine), here)
	w.tellOpen("of your own configuration, held back or in the sandbox because it takes code from this folder, until you allow it", slices.DeleteFunc(open, func(i trust.Item) bool { return !i.Mine }), here)
}

// tellOpen adds a notice about items that wait for the user's consent.
func (w *Conversation) tellOpen(what string, open []trust.Item, here bool) {
	if len(open) == 0 {
		return
	}
	var names []string
	for _, i := range open {
		w.Head.Waiting = append(w.Head.Waiting, i.ID)
		if names = append(names, i.ID); i.State == trust.Changed {
			names[len(names)-1] += " (changed)"
		}
	}
	if more := len(names) - maxTold; more > 0 {
		names = append(names[:maxTold], fmt.Sprintf("and %d more", more))
	}
	how := "adze permission trust show NAME, adze permission trust allow NAME"
	if here {
		how = "/trust shows and allows them"
	}
	w.Notices = append(w.Notices, fmt.Sprintf("%s: %s (%s)", what, strings.Join(names, ", "), how))
}

// carried lists the project's commands for the interface.
func (w *Conversation) carried(context.Context) ([]api.ProjectProgram, error) {
	items, err := w.Settings.Project().Survey()
	var out []api.ProjectProgram
	for _, i := range items {
		c := api.ProjectProgram{ID: i.ID, State: string(i.State), Command: i.Command(), Lines: i.Lines(), Hash: i.Hash, Allowed: i.State == trust.Allowed}
		switch i.State {
		case trust.Broken:
			c.BlockedReason = i.Problem
		case trust.Unused:
			c.BlockedReason = "this version of adze does not run it: " + cmp.Or(i.Idle, "it runs nothing of this kind")
		}
		out = append(out, c)
	}
	return out, err
}

// consent allows an item in the shown version, or revokes it.
func (w *Conversation) consent(ctx context.Context, shown api.ProjectProgram, allow bool) error {
	p := w.Settings.Project()
	if w.deps.Code != nil {
		defer w.deps.Code.Reconsider()
	}
	if !allow {
		_, err := p.Revoke(ctx, shown.ID)
		return err
	}
	items, _ := p.Survey() // a damaged file is replaced
	for _, i := range items {
		if i.ID == shown.ID && i.Hash == shown.Hash && shown.Hash != "" {
			return p.Book.Allow(ctx, p.Dir, i)
		}
	}
	return fmt.Errorf("%s is not what was shown any more; look at it again", shown.ID)
}
