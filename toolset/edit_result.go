package toolset

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"adze/internal/files/workspace"
	"adze/tool"
)

const (
	editListed = 20 // line numbers in the output
	editEchoed = 60 // diff lines shown to the model after an inexact match
)

func (plan editPlan) meta(p workspace.Path) changeMeta {
	return changeMeta{
		Path: p.Display(), Created: plan.created, Added: plan.diff.Added, Removed: plan.diff.Removed,
		Lines: plan.lines[:min(len(plan.lines), editListed)], Steps: plan.steps[:min(len(plan.steps), editListed)],
		Diff: shownDiff(plan.diff.Text),
	}
}

// result describes the change. After an inexact match it includes the diff, because the file may
// differ from the model's idea.
func (plan editPlan) result(p workspace.Path, done workspace.Written) changeResult {
	meta := plan.meta(p)
	meta.Bytes, meta.FileState, meta.Notes = done.Bytes, &done.State, done.Notes
	if plan.changed {
		meta.Notes = append(meta.Notes, "the file had changed elsewhere since it was read; these lines still were as they should be")
	}
	out := fmt.Sprintf("edited %s at %s, +%d -%d lines", p.Display(), plan.where(), meta.Added, meta.Removed)
	if plan.created {
		out = fmt.Sprintf("created %s: %d bytes, +%d lines", p.Display(), done.Bytes, meta.Added)
	}
	if len(plan.steps) > 0 {
		out += "\nold_string was not there as written; it was matched by: " + strings.Join(meta.Steps, "; ") + ". The change:\n" + firstLines(plan.diff.Text, editEchoed)
	}
	return changeResult{
		Metadata: meta, Output: withNotes(out, meta.Notes), Changed: []string{p.Display()},
	}
}

func (plan editPlan) where() string {
	var list []string
	lines := slices.Compact(slices.Clone(plan.lines))
	for _, n := range lines[:min(len(lines), editListed)] {
		list = append(list, strconv.Itoa(n))
	}
	if more := len(lines) - len(list); more > 0 {
		list = append(list, fmt.Sprintf("and %d more", more))
	}
	if len(plan.lines) == 1 {
		return "line " + list[0]
	}
	word := "lines"
	if len(lines) == 1 {
		word = "line"
	}
	return fmt.Sprintf("%d places (%s %s)", len(plan.lines), word, strings.Join(list, ", "))
}

func firstLines(s string, n int) string {
	lines := strings.SplitAfterN(s, "\n", n+1)
	if len(lines) <= n {
		return strings.TrimSuffix(s, "\n")
	}
	return strings.Join(lines[:n], "") + fmt.Sprintf("(%d more lines)", strings.Count(lines[n], "\n"))
}

// refusedMany returns the error for a file too large for inexact matching.
func refusedMany(p workspace.Path, label string, lines []int) error {
	plan := editPlan{lines: lines}
	return tool.Fail(tool.CodeManyMatches, "%sold_string fits %s in %s; give more of the lines around the one you mean, or set replace_all",
		label, plan.where(), p.Display())
}
