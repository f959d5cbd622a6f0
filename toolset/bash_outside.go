package toolset

import (
	"context"
	"fmt"
	"strings"

	"adze/internal/proc"
	"adze/tool"
)

// outside offers a command that failed for want of what no sandbox lets through to the person, once more without one. What
// it wanted is known from the walls around it, never guessed from what it printed: that could ask for anything.
func (x *bashCall) outside(ctx context.Context, cmd proc.Command, r proc.Result) (proc.Result, error) {
	x.result.Barred = sentences(r.Barred) // it stays in the record, whatever becomes of a second run
	why := barred(r)
	if why == "" || r.Killed != proc.ByItself || !x.shell.MayLeave {
		return r, nil
	}
	if err := x.call.Ask(ctx, tool.Need{Permission: tool.Execute, Target: x.in.Command, Dir: x.in.Workdir, Outside: why}); err != nil {
		x.left = fmt.Sprintf("(%s; it was not run outside: %s)", why, oneLine(err.Error(), 300))
		return r, nil
	}
	if _, err := x.spill.close(false); err != nil {
		return r, err
	}
	x.spill = spiller{keep: x.spill.keep, open: x.spill.open}
	cmd.Outside, cmd.Inside = true, false
	x.left = fmt.Sprintf("(%s, so it was run a second time, outside; this is what it wrote there)", why)
	return x.shell.Supervisor.Run(ctx, cmd)
}

// leave takes a command out of the sandbox before it runs, where its gate has read in its words that it would fail there.
// Who says no to that has said no to the command.
func (x *bashCall) leave(ctx context.Context, cmd *proc.Command) error {
	if x.call.Judged == nil || x.call.Judged.Leaves == "" || !x.shell.MayLeave {
		return nil
	}
	need := tool.Need{Permission: tool.Execute, Target: x.in.Command, Dir: x.in.Workdir, Outside: x.call.Judged.Leaves}
	if err := x.call.Ask(ctx, need); err != nil {
		return err
	}
	cmd.Outside, cmd.Inside = true, false
	return nil
}

// barred says what the walls around a command that failed did not let it do; empty: nothing is known.
func barred(r proc.Result) string {
	if r.Err() == nil || r.Sandbox == "" || len(r.Barred) == 0 {
		return ""
	}
	return "in the sandbox " + named(sentences(r.Barred), "; ")
}

func sentences(list []proc.Barred) (out []string) {
	for _, b := range list {
		out = append(out, b.String())
	}
	return out
}

// mostNamed bounds the list of what a command could not do; more is counted.
const mostNamed = 8

func named(list []string, between string) string {
	if len(list) <= mostNamed {
		return strings.Join(list, between)
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:mostNamed], between), len(list)-mostNamed)
}
