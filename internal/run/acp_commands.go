package run

import (
	"context"
	"fmt"
	"strings"
	"time"

	"adze/internal/editors/acp"
	"adze/internal/policy"
	"adze/internal/run/process"
	"adze/internal/stream/ask"
	"adze/session"
	"adze/session/api"
)

// Commands for an editor's user, equal to those of the interface. They take precedence over a
// project's commands.

// builtin is a command of adze.
type builtin struct {
	api.Named
	do func(c *editorSession, ctx context.Context, arg string) session.Result
}

func builtinCommands() []builtin {
	return []builtin{
		{api.Named{Name: "compact", Args: "what must not be lost", Help: "sum up the conversation to make room"}, (*editorSession).compact},
		{api.Named{Name: "context", Args: " ", Help: "the model's context and what was used"}, (*editorSession).context},
		{api.Named{Name: "undo", Args: " ", Help: "restore files as they were before the last turn that changed any"}, (*editorSession).undo},
		{api.Named{Name: "redo", Args: " ", Help: "reverse the last undo"}, (*editorSession).redo},
	}
}

// builtins returns the names for the editor's list.
func builtins() (out []api.Named) {
	for _, b := range builtinCommands() {
		out = append(out, b.Named)
	}
	return out
}

// builtinOf returns the command that p names, or nil.
func builtinOf(p acp.Prompt) (do func(*editorSession, context.Context, string) session.Result, arg string) {
	text, is := strings.CutPrefix(strings.TrimSpace(p.Text), "/")
	if !is || len(p.Attachments) > 0 {
		return nil, ""
	}
	name, arg, _ := strings.Cut(text, " ")
	for _, b := range builtinCommands() {
		if b.Name == name {
			return b.do, strings.TrimSpace(arg)
		}
	}
	return nil, ""
}

// says shows text as an answer. It is not logged.
func (c *editorSession) says(text string) session.Result {
	id := fmt.Sprintf("command-%d", time.Now().UnixNano())
	c.wish.Observe(session.TextDelta{Message: id, Delta: text + "\n"})
	return session.Result{Cause: session.CauseDone}
}

func (c *editorSession) compact(ctx context.Context, wish string) session.Result {
	if len(c.wired.Session.History()) == 0 {
		return c.says("There is nothing to sum up yet.")
	}
	return c.wired.Patient.Judge(c.wired.Session.Compact(ctx, wish))
}

func (c *editorSession) context(context.Context, string) session.Result {
	l := c.wired.Session.Ledger()
	var out strings.Builder
	fmt.Fprintf(&out, "%s: about %d tokens", l.Model, l.Estimate)
	if l.Window > 0 {
		fmt.Fprintf(&out, " of %d", l.Window)
	}
	sums := map[session.Group]int{}
	var order []session.Group
	for _, s := range l.Sources {
		if sums[s.Group] == 0 {
			order = append(order, s.Group)
		}
		sums[s.Group] += s.Tokens
	}
	for _, g := range order {
		fmt.Fprintf(&out, "\n- %s: %d", g, sums[g])
	}
	if l.Cost != nil {
		fmt.Fprintf(&out, "\n\n$%.4f so far", *l.Cost)
	}
	return c.says(out.String())
}

func (c *editorSession) undo(ctx context.Context, _ string) session.Result {
	return c.putBack(ctx, api.Undo{})
}

func (c *editorSession) redo(ctx context.Context, _ string) session.Result {
	return c.putBack(ctx, api.Undo{Redo: true})
}

// putBack restores files after the user has confirmed the list.
func (c *editorSession) putBack(ctx context.Context, u api.Undo) session.Result {
	w := c.wired
	if w.Keeper == nil {
		return c.says("This run keeps no states of files, so nothing can be restored.")
	}
	dry := u
	dry.Dry = true
	would, err := w.Undo(ctx, dry)
	if err != nil {
		return process.Failure(err)
	}
	if len(would.Turns) == 0 || len(would.Paths) == 0 {
		return c.says("There is nothing to restore.")
	}
	answer, err := c.wish.Inquire(ctx, ask.Question{
		Text:    "Restore these files?\n\n" + listed(would.Paths) + leftAlone(would.Left),
		Choices: []string{putBack, leaveFiles}, Kinds: []ask.Kind{ask.AllowOnce, ask.Refuse},
	})
	if ctx.Err() != nil {
		return session.Sort(context.Cause(ctx))
	}
	if err != nil || answer != putBack {
		return c.says("Nothing was changed.")
	}
	done, err := w.Undo(ctx, u)
	if err != nil {
		return process.Failure(err)
	}
	return c.says("Restored:\n\n" + listed(done.Paths) + leftAlone(done.Left))
}

// Answers to an undo.
const (
	putBack    = "restore them"
	leaveFiles = "change nothing"
)

func listed(lines []string) string { return "- " + strings.Join(lines, "\n- ") }

func leftAlone(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return "\n\nLeft alone:\n\n" + listed(lines)
}

// keepMode stores a changed permission mode with the session, for its next owner.
func (c *editorSession) keepMode(ctx context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.begun = c.begun || c.Begun()
	now := c.Mode()
	if !c.begun || now == c.mode {
		return
	}
	if err := c.wired.KeepMode(ctx, now); err != nil {
		c.wired.Menu.Notice(fmt.Sprintf("the permission mode holds, but it could not be kept with the session: %v", err))
		return
	}
	c.mode = now
}

// SetMode sets the mode and stores it with the session.
func (c *editorSession) SetMode(name string) error {
	if err := c.wired.SetMode(name); err != nil {
		return err
	}
	c.mu.Lock()
	begun := c.begun
	c.mu.Unlock()
	if begun {
		c.keepMode(context.Background())
	}
	return nil
}

// restoreMode restores the session's stored mode, unless the client has chosen another or the
// machine's owner forbids it.
func (c *editorSession) restoreMode() {
	c.mode = c.Mode()
	if kept := c.wired.Session.Mode(); kept != "" && c.wish.Mode == "" && c.wired.Gate.MayBe(policy.Mode(kept)) {
		if err := c.wired.SetMode(kept); err == nil {
			c.mode = c.Mode()
		}
	}
}
