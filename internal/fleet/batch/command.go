package batch

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"adze/session"
)

// command runs a task without a model, through the pipeline of every call. One that was begun is
// not begun again.
func (b *Batch) command(ctx context.Context, t Task, p *Progress, keep func() error) (Result, error) {
	if p.Started > 0 {
		return Result{Cause: CauseUnseen, Message: "the batch was stopped while the command ran, and nobody knows how far it came", Hint: "--retry unseen runs it again, in a new clone"}, nil
	}
	p.Started++
	if err := keep(); err != nil {
		return Result{}, err
	}
	h, err := b.hand(ctx, t, t.Command)
	r := Result{Cause: CauseDone, Text: h.Output, Session: session.ID(h.Session)}
	switch {
	case err != nil:
		return r, err
	case h.ExitCode != 0:
		r.Cause, r.Message = h.cause(), "the command did not succeed: "+cmp.Or(lastLines(h.Output, 1), h.Code)
	}
	return r, nil
}

// hand is what adze tools run says.
type hand struct {
	Session  string `json:"session"`
	Status   string `json:"status"`
	Code     string `json:"code"`
	ExitCode int    `json:"exit_code"`
	Output   string `json:"output"`
}

func (h hand) cause() string {
	switch h.ExitCode {
	case 6:
		return string(session.CauseBudget)
	case 7:
		return string(session.CauseDenied)
	}
	return string(session.CauseTool)
}

// maxCheck is how long a command of a task may take, where its flags name no shorter time. The
// configuration's bash_max_timeout bounds it as well.
const maxCheck = 30 * time.Minute

// maxTime returns how long a command of a task may take.
func (b *Batch) maxTime(t Task) time.Duration {
	if b.MaxTime == nil {
		return maxCheck
	}
	if most := b.MaxTime(slices.Concat(b.Flags, t.Flags)); most > 0 {
		return min(most, maxCheck)
	}
	return maxCheck
}

// hand runs a command by hand in the clone of a task. One that is stopped with the batch is an
// error.
func (b *Batch) hand(ctx context.Context, t Task, command string) (h hand, err error) {
	args, err := json.Marshal(map[string]any{"command": command, "description": "a command of a batch", "timeout": math.Ceil(b.maxTime(t).Seconds())})
	if err != nil {
		return h, err
	}
	line := []string{"tools", "run", "bash", "--json", "--args", "-"}
	if gate := b.Gate(slices.Concat(b.Flags, t.Flags)); slices.ContainsFunc(gate, func(f string) bool { return strings.HasPrefix(f, "--permission-mode") }) {
		line = append(line, gate...)
	} else {
		line = append(append(line, "--permission-mode", "auto"), gate...)
	}
	e, err := b.adze(ctx, b.clone(t), string(args), line, func([]byte) bool { return true }, func(raw []byte) { _ = json.Unmarshal(raw, &h) })
	switch {
	case err != nil:
		return h, fmt.Errorf("%w: adze could not be started: %w", ErrKept, err)
	case ctx.Err() != nil:
		return h, context.Cause(ctx)
	case h.Status == "":
		h.ExitCode, h.Output = max(1, e.code), cmp.Or(e.said, "adze ended without a word")
	}
	return h, nil
}

// check runs the command that decides whether a task succeeded.
func (b *Batch) check(ctx context.Context, t Task) (*Checked, error) {
	h, err := b.hand(ctx, t, t.Check)
	if err != nil {
		return nil, err
	}
	out := h.Output
	if len(out) > 8<<10 {
		out = "… " + strings.ToValidUTF8(out[len(out)-8<<10:], "")
	}
	return &Checked{Command: t.Check, OK: h.ExitCode == 0, Output: out}, nil
}
