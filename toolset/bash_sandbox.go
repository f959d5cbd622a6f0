package toolset

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"adze/internal/files/diff"
	"adze/internal/sandbox/proc"
	"adze/internal/text/plural"
	"adze/tool"
)

// outside offers the user a second run without the sandbox for a command that failed because of it.
// The sandbox reports the cause, since the output could claim anything.
func (x *bashCall) outside(ctx context.Context, cmd proc.Command, r proc.Result) (proc.Result, *proc.Overdue, error) {
	x.result.Refused = refusals(r) // kept in the record, whatever a second run does
	why := barred(r)
	if why == "" || r.Killed != proc.ByItself || !x.shell.MayLeave {
		return r, nil, nil
	}
	if err := x.call.Ask(ctx, tool.Need{Permission: tool.Execute, Target: x.in.Command, Dir: x.in.Workdir, OutsideReason: why}); err != nil {
		refused := strings.Replace(oneLine(err.Error(), 600), "running it outside the sandbox needs approval: "+why+"; ", "", 1)
		x.left = fmt.Sprintf("(%s; it was not run outside: %s)", why, refused)
		return r, nil, nil
	}
	if _, err := x.spill.close(false); err != nil {
		return r, nil, err
	}
	x.spill = spiller{keep: x.spill.keep, open: x.spill.open}
	cmd.NoWalls, cmd.RequireWalls = true, false
	x.left = fmt.Sprintf("(%s, so it was run a second time, outside; this is what it wrote there)", why)
	return x.shell.wait(ctx, cmd, x.overtime(cmd))
}

// leave takes a command out of the sandbox before it runs, if the gate has read from its words that
// it would fail inside, or if it needs the real files. Denying that denies the command.
func (x *bashCall) leave(ctx context.Context, cmd *proc.Command) error {
	if !x.shell.MayLeave {
		return nil
	}
	why := ""
	if x.call.Reading != nil {
		why = x.call.Reading.Leaves
	}
	if why == "" && x.shell.InUse != nil && cmd.RequireWalls && !x.in.Background {
		why = x.shell.InUse([]string{x.in.Command}, cmd.Dir)
	}
	if why == "" {
		return nil
	}
	if err := x.call.Ask(ctx, tool.Need{Permission: tool.Execute, Target: x.in.Command, Dir: x.in.Workdir, OutsideReason: why}); err != nil {
		return err
	}
	cmd.NoWalls, cmd.RequireWalls = true, false
	return nil
}

// barred describes the sandbox's refusals for a failed command, or returns "" if none are known.
func barred(r proc.Result) string {
	if r.Err() == nil || r.Sandbox == "" || len(r.Refused) == 0 {
		return ""
	}
	return "in the sandbox " + named(sentences(r.Refused), "; ")
}

func refusals(r proc.Result) (out []tool.Refusal) {
	kinds := map[proc.BarredKind]string{proc.BarredWrite: "path", proc.BarredChange: "path", proc.BarredConnect: "host", proc.BarredHost: "host",
		proc.BarredSocket: "socket", proc.BarredCall: "call"}
	for _, b := range r.Denied {
		out = append(out, tool.Refusal{Kind: kinds[b.Kind], Name: b.Target, Reason: oneLine(b.Reason, 300)})
	}
	return append(out, hinted(r)...)
}

// hinted returns paths that the output calls read-only, if no refused write was seen: not every
// sandbox can see them.
func hinted(r proc.Result) (out []tool.Refusal) {
	written := slices.ContainsFunc(r.Denied, func(b proc.Denial) bool { return b.Kind == proc.BarredWrite })
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

// readOnly matches a path with the error for writes to a read-only mount (EROFS).
var readOnly = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(/[^\s:'"‘’]+)['"’]?: Read-only file system`)
})

func sentences(list []proc.Denial) (out []string) {
	for _, b := range list {
		out = append(out, b.String())
	}
	return out
}

const mostNamed = 8

func named(list []string, between string) string {
	if len(list) <= mostNamed {
		return strings.Join(list, between)
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:mostNamed], between), len(list)-mostNamed)
}

// In plan mode a command runs in a private view of the workspace, and its changes are dropped at
// its end. In other modes some changes wait for the user, who chooses among them during the call.
// Its one outcome names the applied and the dropped changes.

func (x *bashCall) planned() bool { return x.call.Reading != nil && x.call.Reading.Planned }

// decide applies or drops the command's changes.
func (x *bashCall) decide(ctx context.Context, r *proc.Result) {
	aside := r.Pending
	r.Pending = nil
	if x.planned() {
		aside.Apply(nil)
		x.drop(aside.Files)
		return
	}
	v := newReview(aside.Files)
	why := "the command has ended; this part of its changes waits, because " + v.doubt
	need := tool.Need{Permission: tool.Write, Target: "what it changed: " + plural.Of(len(aside.Files), "file"), Reach: tool.OwnChange}
	refused, said, err := x.call.Review(ctx, need, why, v.blocks)
	var choices []proc.FileChoice
	if err == nil {
		choices = v.choices(refused)
	}
	found := aside.Apply(choices)
	r.Messages, r.Notes = append(r.Messages, found.Messages...), append(r.Notes, found.Notes...)
	for _, b := range found.Denied {
		r.Deny(b)
	}
	x.decided = append(x.decided, v.outcome(choices, said, err))
}

func (x *bashCall) drop(files []proc.ChangedFile) {
	how := "(plan mode: run aside without network, and all that it changed is dropped"
	if len(files) > 0 {
		names := make([]string, len(files))
		for i, f := range files {
			names[i] = f.Path
		}
		how += ": " + named(names, ", ")
	}
	x.decided = append(x.decided, how+")")
}

// ranOf returns the record of a command run on a stage.
func ranOf(command string, r proc.Result, masked func(string) string) RanCommand {
	out := RanCommand{Command: masked(command)}
	if err := r.Err(); r.Killed != "" || r.Signal != 0 {
		out.Ended = err.Error()
	} else {
		out.Exit = &r.Code
	}
	for _, c := range r.Traffic {
		out.Hosts = append(out.Hosts, c.Host)
	}
	for _, b := range slices.Concat(r.Denied, r.Refused) {
		if b.Kind == proc.BarredHost || b.Kind == proc.BarredConnect {
			out.Hosts = append(out.Hosts, b.Target)
		}
	}
	return out
}

func (x *bashCall) masked(text string) string {
	if x.shell.Mask == nil {
		return text
	}
	s := x.shell.Mask()
	return s.Write(text) + s.End()
}

// diffOf returns a change as git prints it, without text for a binary file.
func diffOf(f proc.ChangedFile) diff.Diff {
	from, to := diff.Side{Name: f.Path, Text: f.Before}, diff.Side{Name: f.Path, Text: f.After}
	switch f.Change {
	case "added":
		from.Name = ""
	case "removed":
		to.Name = ""
	}
	return diff.Unified(from, to)
}

// review is a list of changes as hunks, counted from 1.
type review struct {
	files  []proc.ChangedFile
	hunks  []int // in each file: at least one
	blocks []tool.Block
	doubt  string // the first file's that has one
}

func newReview(files []proc.ChangedFile) (v review) {
	for _, f := range files {
		text := diffOf(f).Text
		n := strings.Count("\n"+text, "\n@@ ")
		if n == 0 { // as a whole
			text, n = "@@ "+strings.TrimSpace(f.Change+" "+f.Summary)+" @@\n", 1
		}
		title := f.Path + " · " + f.Change
		if f.Summary != "" {
			title += " · " + f.Summary
		}
		if f.AskReason != "" {
			title += " · " + f.AskReason
			if v.doubt == "" {
				v.doubt = f.AskReason
			}
		}
		v.files, v.hunks = append(v.files, f), append(v.hunks, n)
		v.blocks = append(v.blocks, tool.Block{Kind: tool.DiffBlock, Path: f.Path, Title: title, Text: text})
	}
	return v
}

// choices returns the changes to apply without the refused hunks.
func (v review) choices(refused []int) []proc.FileChoice {
	out := make([]proc.FileChoice, len(v.files))
	first := 1
	for i, f := range v.files {
		var without []int
		for _, n := range refused {
			if n >= first && n < first+v.hunks[i] {
				without = append(without, n-first+1)
			}
		}
		first += v.hunks[i]
		switch {
		case len(without) == 0:
			out[i].Apply = true
		case len(without) < v.hunks[i]:
			text, _, err := diff.ApplyExcept(f.Before, f.After, without)
			out[i] = proc.FileChoice{Apply: err == nil, Text: &text}
		}
	}
	return out
}

// outcome reports to the model the decision about waiting changes.
func (v review) outcome(choices []proc.FileChoice, said string, err error) string {
	var taken, dropped []string
	for i, f := range v.files {
		switch {
		case i >= len(choices) || !choices[i].Apply:
			dropped = append(dropped, f.Path)
		case choices[i].Text != nil:
			taken = append(taken, f.Path+" in part")
		default:
			taken = append(taken, f.Path)
		}
	}
	out := "some of its changes are left to the user"
	if len(taken) > 0 {
		out += "; applied: " + named(taken, ", ")
	}
	if len(dropped) > 0 {
		out += "; dropped: " + named(dropped, ", ")
	}
	if err != nil {
		out += "; " + oneLine(err.Error(), 300)
		if errors.Is(err, context.Canceled) {
			out = "some of its changes were left to the user; they are dropped, because the review was not finished"
		}
	}
	if said != "" {
		out += "; the user says: " + said
	}
	return "(" + out + ")"
}

// endsInCD matches a command line that ends with a cd, whose author expects it to last.
var endsInCD = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(^|[;&|\n(]\s*)(cd|pushd)(\s+[^;&|\n()]*)?\s*;?\s*$`)
})

// notes returns remarks for the model beside the output.
func (x *bashCall) notes(r proc.Result) (notes []string) {
	if x.plain {
		notes = append(notes, "(bash is not installed; sh ran it)")
	}
	if x.guarded {
		notes = append(notes, "(a rule allowed this, so git ran without the hooks and programs that this repository names)")
	}
	if r.Ended > 0 && r.Killed == proc.ByItself && x.declared == "" {
		notes = append(notes, fmt.Sprintf("(ended %s that it left running%s)", plural.Of(r.Ended, "process"), x.unlessBrief("; use background: true to keep one")))
	}
	switch {
	case r.Code == 0:
	case r.Sandbox == "degraded (landlock)":
		notes = append(notes, "(it ran in a sandbox in which commands only read: it could write its temporary files and caches and nothing in the workspace or elsewhere, and had no network, not even loopback)")
	case r.Sandbox != "":
		notes = append(notes, "(it ran in a sandbox: no network but hosts that are allowed, through the proxy of HTTPS_PROXY; everything outside the workspace and /tmp is read only, of the home only toolchains are there, and read only are .git hooks and config and the folders of editors in it)")
	}
	if r.Sandbox != "" && r.Code != 0 && strings.Contains(r.Output.Head+r.Output.Tail, otherLink) {
		notes = append(notes, "(in the sandbox a hard link to a file that was there before has another inode number than that file showed; use git clone --no-hardlinks)")
	}
	if strings.HasPrefix(r.Sandbox, "full (") && r.Err() != nil && slices.ContainsFunc(x.shell.jobs.List(), func(j proc.JobStatus) bool { return j.Running }) {
		notes = append(notes, "(a job runs beside it: that sees what a command changes when the command has ended, and a command may not see all that a job changes meanwhile; wait for a job in a further call)")
	}
	notes = append(notes, refusedHosts(r)...)
	if why := barred(r); x.left != "" {
		notes = append(notes, x.left)
	} else if why != "" {
		notes = append(notes, "("+why+")")
	} else {
		notes = append(notes, gotOver(r)...)
	}
	notes = append(append(notes, notShown(r)...), x.decided...)
	notes = append(notes, putAside(r)...)
	if r.Survivors > 0 {
		notes = append(notes, fmt.Sprintf("(%s could not be ended, probably of another user)", plural.Of(r.Survivors, "process")))
	}
	if x.declared == "" && endsInCD().MatchString(x.in.Command) {
		notes = append(notes, "(cd does not last beyond this call; use workdir)")
	}
	return notes
}

// ofJob returns the notes about an ended job: there is no offer to run it outside, because it was
// started to continue.
func ofJob(r proc.Result) []string {
	notes := refusedHosts(r)
	if why := barred(r); why != "" {
		notes = append(notes, "("+why+")")
	} else {
		notes = append(notes, gotOver(r)...)
	}
	return append(notes, putAside(r)...)
}

func refusedHosts(r proc.Result) []string {
	var hosts []string
	why := ""
	for _, b := range r.Denied {
		if b.Kind == proc.BarredHost {
			hosts, why = append(hosts, b.Target), b.Reason
		}
	}
	if len(hosts) == 0 {
		return nil
	}
	if why != "" && len(hosts) == 1 {
		why = ": " + oneLine(why, 200)
	} else {
		why = ""
	}
	return []string{"(the sandbox did not let it reach " + named(hosts, ", ") + why + ")"}
}

// gotOver lists the refusals for a command that succeeded or failed for another reason: the missing
// effect may matter.
func gotOver(r proc.Result) []string {
	all := slices.DeleteFunc(slices.Clone(r.Denied), func(b proc.Denial) bool { return b.Kind == proc.BarredHost || b.Kind == proc.BarredChange })
	if len(all) == 0 {
		return nil
	}
	return []string{"(the sandbox refused it something: " + named(sentences(all), "; ") + ")"}
}

// notShown lists files hidden from a failed command.
func notShown(r proc.Result) (notes []string) {
	for _, hint := range r.Hidden {
		notes = append(notes, "("+hint+")")
	}
	return notes
}

func putAside(r proc.Result) (notes []string) {
	for _, told := range r.Messages {
		notes = append(notes, "(the sandbox put aside what this command left: "+told+"; tell the user)")
	}
	for _, note := range r.Notes {
		notes = append(notes, "("+note+"; tell the user)")
	}
	return notes
}

// otherLink is an error by git clone --local in a view (git 2.39).
const otherLink = "hardlink different from source"

const noOutput = "(no output)"

// exitLine starts the last line for a successful command.
const exitLine = "exit code 0"

// Written returns a successful bash call's output without the last line, which reports the exit
// code.
func Written(o tool.Outcome) string {
	text := o.Output
	if at := strings.LastIndexByte(text, '\n'); at >= 0 && strings.HasPrefix(text[at+1:], exitLine) {
		text = text[:at]
	}
	return strings.TrimSuffix(text, noOutput)
}
