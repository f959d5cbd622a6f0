package toolset

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"adze/internal/sandbox/proc"
	"adze/tool"
)

// outside offers the user a second run without the sandbox for a command that failed because of it.
// The walls around the command name the cause: its output could ask for anything.
func (x *bashCall) outside(ctx context.Context, cmd proc.Command, r proc.Result) (proc.Result, *proc.Overdue, error) {
	x.result.Refused = refusals(r) // they stay in the record, whatever becomes of a second run
	why := barred(r)
	if why == "" || r.Killed != proc.ByItself || !x.shell.MayLeave {
		return r, nil, nil
	}
	if err := x.call.Ask(ctx, tool.Need{Permission: tool.Execute, Target: x.in.Command, Dir: x.in.Workdir, Outside: why}); err != nil {
		refused := strings.Replace(oneLine(err.Error(), 600), "running it outside the sandbox needs approval: "+why+"; ", "", 1)
		x.left = fmt.Sprintf("(%s; it was not run outside: %s)", why, refused)
		return r, nil, nil
	}
	if _, err := x.spill.close(false); err != nil {
		return r, nil, err
	}
	x.spill = spiller{keep: x.spill.keep, open: x.spill.open}
	cmd.Outside, cmd.Inside = true, false
	x.left = fmt.Sprintf("(%s, so it was run a second time, outside; this is what it wrote there)", why)
	return x.shell.wait(ctx, cmd, x.overtime(cmd))
}

// leave takes a command out of the sandbox before it runs, where its gate has read in its words
// that it would fail there, or where it needs the real files. A refusal of that refuses the
// command.
func (x *bashCall) leave(ctx context.Context, cmd *proc.Command) error {
	if !x.shell.MayLeave {
		return nil
	}
	why := ""
	if x.call.Judged != nil {
		why = x.call.Judged.Leaves
	}
	if why == "" && x.shell.InUse != nil && cmd.Inside && !x.in.Background {
		why = x.shell.InUse([]string{x.in.Command}, cmd.Dir)
	}
	if why == "" {
		return nil
	}
	if err := x.call.Ask(ctx, tool.Need{Permission: tool.Execute, Target: x.in.Command, Dir: x.in.Workdir, Outside: why}); err != nil {
		return err
	}
	cmd.Outside, cmd.Inside = true, false
	return nil
}

// barred says what the walls around a command that failed did not let it do; if empty, nothing is
// known.
func barred(r proc.Result) string {
	if r.Err() == nil || r.Sandbox == "" || len(r.Barred) == 0 {
		return ""
	}
	return "in the sandbox " + named(sentences(r.Barred), "; ")
}

// refusals are what a sandbox refused a command, for the record.
func refusals(r proc.Result) (out []tool.Refusal) {
	kinds := map[proc.BarredKind]string{proc.BarredWrite: "path", proc.BarredChange: "path", proc.BarredConnect: "host", proc.BarredHost: "host",
		proc.BarredSocket: "socket", proc.BarredCall: "call"}
	for _, b := range r.Denied {
		out = append(out, tool.Refusal{Kind: kinds[b.Kind], Name: b.What, Reason: oneLine(b.Why, 300)})
	}
	return append(out, hinted(r)...)
}

// hinted are paths that the output calls read only, where nobody saw a write that was refused: not
// each sandbox has who sees them.
func hinted(r proc.Result) (out []tool.Refusal) {
	written := slices.ContainsFunc(r.Denied, func(b proc.Barred) bool { return b.Kind == proc.BarredWrite })
	if r.Sandbox == "" || written {
		return nil
	}
	for _, found := range readOnly().FindAllStringSubmatch(r.Output.Head+"\n"+r.Output.Tail, mostNamed) {
		hint := tool.Refusal{Kind: "path", Name: found[1], Reason: "its output says that it is read only", Hint: true}
		if !slices.Contains(out, hint) {
			out = append(out, hint)
		}
	}
	return out
}

// readOnly finds a path with the text of the error that a write to what is mounted read only gives
// (EROFS).
var readOnly = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(/[^\s:'"‘’]+)['"’]?: Read-only file system`)
})

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
