package run

import (
	"context"
	"fmt"
	"slices"

	"adze/internal/policy"
	"adze/internal/sandbox"
	"adze/session"
)

// settle sets the mode auto for the first session in a folder if the sandbox is full and neither
// flags, the configuration nor the machine's owner choose otherwise. A review keeps its mode. The
// choice is saved for the folder, so that it is announced once.
func (s *interactiveRun) settle(ctx context.Context) {
	w, modes := s.w, s.w.Settings.Owner.Modes
	if s.o.Review || !w.Undecided(s.o) || w.Settings.Project().Mode() != "" || w.Cage.Setting == sandbox.Off ||
		len(modes) > 0 && !slices.Contains(modes, string(policy.Auto)) || !w.Cage.Full() || ctx.Err() != nil {
		return
	}
	if err := w.SetMode(string(policy.Auto)); err != nil {
		s.ui.Observe(session.Notice{Text: err.Error()})
		return
	}
	if err := w.Settings.Project().ChooseMode(ctx, string(policy.Auto)); err != nil {
		s.ui.Observe(session.Notice{Text: fmt.Sprintf("the mode auto holds for this session only, because it could not be saved: %v", err)})
	}
	w.Chosen = string(w.Gate.Mode())
	if s.ui.InMode(w.Chosen); s.words != "" || s.app.linesOnly(&s.o.Run) { // otherwise the welcome shows it
		s.ui.Observe(session.Notice{Text: "Commands run in the sandbox without questions (auto); shift+tab changes it.", Kind: session.Remark})
	}
}
