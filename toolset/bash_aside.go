package toolset

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"adze/internal/files/diff"
	"adze/internal/sandbox/proc"
	"adze/internal/text/plural"
	"adze/tool"
)

// A command that runs aside changes a private view of the workspace. When it has ended its changes
// are dropped, or the user chooses what is applied of them, while the call still runs: it has one
// outcome, which says what became of them.

// Bounds of what the record holds of changes that were dropped, in bytes.
const (
	triedDiff  = 16 << 10 // of one file
	triedDiffs = 128 << 10
	triedFiles = 100
)

// apart says what becomes of the command's changes. It is empty where they are applied.
func (x *bashCall) apart() tool.Aside {
	if x.call.Judged == nil {
		return ""
	}
	return x.call.Judged.Aside
}

// dropped reports that nobody is asked about the changes.
func (x *bashCall) dropped() bool { return x.apart() == tool.Tried || x.apart() == tool.Planned }

// decide has the command's changes applied or dropped.
func (x *bashCall) decide(ctx context.Context, r *proc.Result) {
	aside := r.Aside
	r.Aside = nil
	if x.dropped() {
		aside.Apply(nil)
		x.drop(aside.Files)
		return
	}
	v := newReview(aside.Files)
	if len(aside.Files) == 0 {
		x.decided = append(x.decided, "(it ran aside and changed nothing)")
		aside.Apply(nil)
		return
	}
	why := "the command has run aside: nothing of this is in the workspace yet"
	if x.apart() == "" {
		why = "the command has ended; this part of its changes waits, because " + v.doubt
	}
	need := tool.Need{Permission: tool.Write, Target: "what it changed: " + plural.Of(len(aside.Files), "file"), Reach: tool.OwnChange}
	refused, said, err := x.call.Review(ctx, need, why, append(x.shown(*r), v.blocks...))
	var choices []proc.FileChoice
	if err == nil {
		choices = v.choices(refused)
	}
	found := aside.Apply(choices)
	r.Told = append(r.Told, found.Told...)
	for _, b := range found.Denied {
		r.Deny(b)
	}
	x.decided = append(x.decided, v.outcome(choices, said, err, x.apart() == ""))
}

// shown is the output of the command, for whoever decides about its changes.
func (x *bashCall) shown(r proc.Result) []tool.Block {
	if x.apart() == "" || r.Output.Bytes == 0 {
		return nil
	}
	text := r.Output.Tail
	if text == "" {
		text = r.Output.Head
	}
	end := "exit " + fmt.Sprint(r.Code)
	if err := r.Err(); err != nil {
		end = err.Error()
	}
	return tool.Output("its output · "+end, endLine(tailText(lastBytes(text, shellLiveTail))))
}

// drop records the changes that were dropped, and tells the model.
func (x *bashCall) drop(files []proc.ChangedFile) {
	how := "(run aside: all that it changed is dropped"
	if x.apart() == tool.Planned {
		how = "(plan mode: run aside without network, and all that it changed is dropped"
	} else {
		x.result.Tried = tried(files, x.masked)
	}
	if keep := x.shell.Tried; keep != nil {
		var patch strings.Builder
		for _, f := range files {
			patch.WriteString(diffOf(f).Text)
		}
		if err := keep(patch.String()); err != nil {
			how += "; its patch could not be saved: " + err.Error()
		}
	}
	if len(files) > 0 {
		names := make([]string, len(files))
		for i, f := range files {
			names[i] = f.Path
		}
		how += ": " + named(names, ", ")
	}
	x.decided = append(x.decided, how+")")
}

// ranOf is what is kept of a command that worked on a stage.
func ranOf(command string, r proc.Result, masked func(string) string) RanCommand {
	out := RanCommand{Command: masked(command)}
	if err := r.Err(); r.Killed != "" || r.Signal != 0 {
		out.Ended = err.Error()
	} else {
		out.Exit = &r.Code
	}
	for _, c := range r.Carried {
		out.Hosts = append(out.Hosts, c.Host)
	}
	for _, b := range slices.Concat(r.Denied, r.Barred) {
		if b.Kind == proc.BarredHost || b.Kind == proc.BarredConnect {
			out.Hosts = append(out.Hosts, b.What)
		}
	}
	return out
}

// masked hides secrets in what is recorded.
func (x *bashCall) masked(text string) string {
	if x.shell.Mask == nil {
		return text
	}
	s := x.shell.Mask()
	return s.Write(text) + s.End()
}

// tried is what the record holds of changes.
func tried(files []proc.ChangedFile, masked func(string) string) (out []tool.TriedFile) {
	room := triedDiffs
	for _, f := range files[:min(len(files), triedFiles)] {
		d := diffOf(f)
		t := tool.TriedFile{Path: f.Path, Change: f.Change, Added: d.Added, Removed: d.Removed, Summary: f.Summary, Diff: masked(d.Text)}
		if most := min(triedDiff, room); len(t.Diff) > most {
			t.Diff, t.Cut = t.Diff[:strings.LastIndexByte(t.Diff[:most], '\n')+1], true
		}
		room -= len(t.Diff)
		out = append(out, t)
	}
	if more := len(files) - triedFiles; more > 0 {
		out = append(out, tool.TriedFile{Change: "modified", Summary: plural.Of(more, "further file"), Cut: true})
	}
	return out
}

// diffOf is a change as git prints it. It has no text where the file has none.
func diffOf(f proc.ChangedFile) diff.Diff {
	if !f.Texts {
		return diff.Diff{}
	}
	from, to := diff.Side{Name: f.Path, Text: f.Before}, diff.Side{Name: f.Path, Text: f.After}
	switch f.Change {
	case "added":
		from.Name = ""
	case "removed":
		to.Name = ""
	}
	return diff.Unified(from, to)
}

// review is a list of changes as hunks that are counted from 1.
type review struct {
	files  []proc.ChangedFile
	hunks  []int // of each file: at least one
	blocks []tool.Block
	doubt  string // of the first file that has one
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
		if f.Doubt != "" {
			title += " · " + f.Doubt
			if v.doubt == "" {
				v.doubt = f.Doubt
			}
		}
		v.files, v.hunks = append(v.files, f), append(v.hunks, n)
		v.blocks = append(v.blocks, tool.Block{Kind: tool.DiffBlock, Path: f.Path, Title: title, Text: text})
	}
	return v
}

// choices are what is applied where some hunks are refused.
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
			text, _, err := diff.Without(f.Before, f.After, without)
			out[i] = proc.FileChoice{Apply: err == nil, Text: &text}
		}
	}
	return out
}

// outcome tells the model what became of the changes. Rest says that all others are applied.
func (v review) outcome(choices []proc.FileChoice, said string, err error, rest bool) string {
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
	out := "it ran aside"
	if rest {
		out = "some of its changes are left to the user"
	}
	if len(taken) > 0 {
		out += "; applied: " + named(taken, ", ")
	}
	if len(dropped) > 0 {
		out += "; dropped: " + named(dropped, ", ")
	}
	if err != nil {
		out += "; " + oneLine(err.Error(), 300)
		if errors.Is(err, context.Canceled) {
			out = "it ran aside; everything is dropped, because the review was not finished"
		}
	}
	if said != "" {
		out += "; the user says: " + said
	}
	return "(" + out + ")"
}
