package run

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"adze/internal/cmd"
	"adze/internal/policy"
	"adze/internal/sandbox"
	"adze/internal/stream/ask"
	"adze/session"
	"adze/toolset"
)

// The choices of the first start in a folder.
const (
	inSandbox = "Run commands in the sandbox without questions (recommended)"
	askFirst  = "Ask me before commands"
	onView    = "Stage the changes of each turn, and let me review them once"
)

// offer asks the user once for each folder how commands run there, where the sandbox is full.
// Escape leaves it open: they are asked at the next start. A review begins without the question.
func (s *sitting) offer(ctx context.Context) {
	w := s.w
	modes := w.Settings.Owner.Modes
	if s.o.Review || !w.Undecided(s.o) || w.Settings.Project().Mode() != "" || w.Cage.Setting == sandbox.Off ||
		len(modes) > 0 && (!slices.Contains(modes, string(policy.Auto)) || !slices.Contains(modes, string(policy.AskFirst))) || !w.Cage.Full() {
		return
	}
	choices := []string{inSandbox, askFirst}
	if !w.Gate.Mode().OnStage() && w.Gate.MayBe(policy.Staged) && w.Cage.Unstaged() == "" {
		choices = append(choices, onView)
	}
	said, err := s.inquire(ctx, toolset.Inquiry{Asks: "adze", Question: cmd.SandboxInShort(), Choices: choices})
	mode := map[string]policy.Mode{inSandbox: policy.Auto, askFirst: policy.AskFirst, onView: policy.Staged}[said]
	if errors.Is(err, ask.ErrClosed) || ctx.Err() != nil {
		return
	}
	if mode == "" {
		s.ui.Observe(session.Notice{Text: "no choice was made: commands are asked about, and the next start asks again"})
		return
	}
	if err := w.Settings.Project().ChooseMode(ctx, string(mode)); err != nil {
		s.ui.Observe(session.Notice{Text: fmt.Sprintf("the choice holds for this session only, because it could not be saved: %v", err)})
	}
	if err := w.SetMode(string(mode)); err != nil {
		s.ui.Observe(session.Notice{Text: err.Error()})
		return
	}
	w.Chosen = string(w.Gate.Mode())
	s.ui.InMode(w.Chosen)
	s.ui.Observe(session.Notice{Text: "permission mode: " + w.Chosen + " (/mode changes it for a session; adze permission trust revoke mode has you asked again)", Kind: session.Remark})
}
