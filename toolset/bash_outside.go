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
	if r.Err() == nil || r.Killed != proc.ByItself || len(r.Barred) == 0 || r.Sandbox == "" || !x.shell.MayLeave {
		return r, nil
	}
	why := "in the sandbox " + named(r.Barred)
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

// mostNamed bounds the list of what a command could not do; more is counted.
const mostNamed = 8

func named(list []string) string {
	if len(list) <= mostNamed {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:mostNamed], ", "), len(list)-mostNamed)
}
