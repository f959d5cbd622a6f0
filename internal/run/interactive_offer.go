package run

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"adze/internal/cmd"
	"adze/internal/policy"
	"adze/internal/sandbox"
	"adze/session"
	"adze/toolset"
	"adze/tui/permission"
)

// The choices of the first start in a folder.
const (
	inSandbox = "Run commands in the sandbox without questions (recommended)"
	askFirst  = "Ask me before commands"
)

// begins puts in force the mode that the user chose for this folder, where neither the command line
// nor the configuration names one.
func (w *wired) begins(ctx context.Context, o *options) {
	if !w.undecided(o) {
		return
	}
	mode := w.settings.project().Mode()
	if mode == "" || mode == string(w.gate.Mode()) {
		return
	}
	if err := w.gate.SetMode(policy.Mode(mode)); err != nil {
		w.notices = append(w.notices, fmt.Sprintf("the mode %s that you chose for this folder is not in force: %v", mode, err))
		return
	}
	w.chosen, w.head.PermissionMode = mode, mode
	walls := w.cage.Now(ctx)
	w.head.Sandbox.Level, w.head.Sandbox.How = string(walls.Level), walls.How
}

// undecided reports whether nothing but the default says which mode a session of the interface
// begins in.
func (w *wired) undecided(o *options) bool {
	return !o.demo && o.agent == "" && o.acceptPlan == "" && o.replay == "" && o.record == "" && w.settings.config.Origin("permission_mode") == "default"
}

// offer asks the user once for each folder how commands run there, where the sandbox is full.
// Escape leaves it open: they are asked at the next start.
func (s *sitting) offer(ctx context.Context) {
	w := s.w
	modes := w.settings.owner.Modes
	if !w.undecided(s.o) || w.settings.project().Mode() != "" || w.cage.Setting == sandbox.Off ||
		len(modes) > 0 && (!slices.Contains(modes, string(policy.Auto)) || !slices.Contains(modes, string(policy.AskFirst))) || !w.cage.Full() {
		return
	}
	said, err := s.inquire(ctx, toolset.Inquiry{Asks: "adze", Question: cmd.SandboxInShort(), Choices: []string{inSandbox, askFirst}})
	mode := map[string]policy.Mode{inSandbox: policy.Auto, askFirst: policy.AskFirst}[said]
	if errors.Is(err, permission.ErrClosed) || ctx.Err() != nil {
		return
	}
	if mode == "" {
		s.ui.Observe(session.Notice{Text: "that is neither of the choices: commands are asked about, and the next start offers them again"})
		return
	}
	if err := w.settings.project().ChooseMode(ctx, string(mode)); err != nil {
		s.ui.Observe(session.Notice{Text: fmt.Sprintf("the choice holds for this session only; it could not be kept: %v", err)})
	}
	if err := w.setMode(string(mode)); err != nil {
		s.ui.Observe(session.Notice{Text: err.Error()})
		return
	}
	w.chosen = string(mode)
	s.ui.InMode(w.chosen)
	s.ui.Observe(session.Notice{Text: "permission mode: " + w.chosen + " (/mode changes it for a session; adze trust revoke mode has you asked again)"})
}
