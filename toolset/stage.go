package toolset

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"adze/internal/sandbox/proc"
	"adze/internal/text/plural"
	"adze/tool"
)

// Limits for staged changes in a report, in bytes.
const (
	stagedDiff  = 16 << 10 // for one file
	stagedDiffs = 128 << 10
	stagedFiles = 100
)

// Stage is a view of the workspace where turns work and whose changes the user reviews together.
// Contract:
//   - Review lists the changes and the commands that ran, while no turn uses it;
//   - Take applies the chosen Files in the name of a call and ends the stage, or applies nothing;
//   - Drop ends it without a change;
//   - all return ErrNotYours unless the user requested it.
type Stage interface {
	Review() (Staged, error)
	Take(tag string, choices []proc.FileChoice) (proc.Findings, error)
	Drop() error
}

// ErrNotYours is returned when a model tries to decide about a stage.
var ErrNotYours = errors.New("only the user decides about the changes of a staged turn")

// Staged is the content of a stage.
type Staged struct {
	Files     []proc.ChangedFile
	Skipped   []string // changes that cannot be taken, as sentences
	Conflicts []string // paths in Files changed by somebody else meanwhile
	Commands  []RanCommand
	Hosts     []string // requested hosts
}

// Patch returns the staged text changes for git apply, below lines that name the rest. whole means
// that the rest is only a repository's own data.
func (s Staged) Patch() (patch string, whole bool) {
	left, whole := "", true
	for _, f := range s.Files {
		text := diffOf(f).Text
		if patch += text; text == "" || f.Summary != "" {
			left += strings.TrimSpace("not in this patch: "+f.Path+" is "+f.Change+" "+f.Summary) + "\n"
			whole = whole && path.Base(f.Path) == ".git"
		}
	}
	return left + patch, whole
}

// Empty reports whether nothing differs.
func (s Staged) Empty() bool { return len(s.Files)+len(s.Skipped) == 0 }

// RanCommand is a command run on a stage.
type RanCommand struct {
	Command string   `json:"command"`
	Exit    *int     `json:"exit,omitempty"`  // nil if it was ended
	Ended   string   `json:"ended,omitempty"` // the reason
	Hosts   []string `json:"hosts,omitempty"` // reached or requested
}

// Decisions about a stage.
const (
	StageReview = "review" // the user chooses
	StageTake   = "take"   // all of it
	StageDrop   = "drop"
)

// StageTool is the tool for deciding about a stage. It is never offered to models.
const StageTool = "stage"

type stageArgs struct {
	Decision string `json:"decision" enum:"review,take,drop" doc:"what becomes of the changes of the staged turn"`
}

// StagedChange is one file in a review, for events and results.
type StagedChange struct {
	Path      string `json:"path"`
	Change    string `json:"change"` // added, modified or removed
	Added     int    `json:"added"`
	Removed   int    `json:"removed"`
	Summary   string `json:"summary,omitempty"`
	AskReason string `json:"doubt,omitempty"`    // why it is taken only after the user has seen it
	Conflict  bool   `json:"conflict,omitempty"` // somebody else has changed it meanwhile
	Diff      string `json:"diff,omitempty"`
}

// StageReport is a review for events and results.
type StageReport struct {
	Decision string         `json:"decision"` // kept, taken or dropped
	Files    []StagedChange `json:"files"`
	Unlisted int            `json:"more,omitempty"` // number of unlisted files
	Skipped  []string       `json:"left,omitempty"`
	Commands []RanCommand   `json:"commands,omitempty"`
	Hosts    []string       `json:"hosts,omitempty"`
}

// Report describes a review.
func (s Staged) Report(decision string) StageReport {
	out := StageReport{Decision: decision, Skipped: s.Skipped, Commands: s.Commands, Hosts: s.Hosts, Files: []StagedChange{}}
	room := stagedDiffs
	for _, f := range s.Files[:min(len(s.Files), stagedFiles)] {
		d := diffOf(f)
		c := StagedChange{Path: f.Path, Change: f.Change, Added: d.Added, Removed: d.Removed, Summary: f.Summary, AskReason: f.AskReason, Conflict: slices.Contains(s.Conflicts, f.Path), Diff: d.Text}
		if most := min(stagedDiff, room); len(c.Diff) > most {
			c.Diff = c.Diff[:strings.LastIndexByte(c.Diff[:most], '\n')+1]
		}
		room -= len(c.Diff)
		out.Files = append(out.Files, c)
	}
	out.Unlisted = len(s.Files) - len(out.Files)
	return out
}

// String formats a review in a few lines, without diffs.
func (r StageReport) String() string {
	var out strings.Builder
	for _, c := range r.Files {
		fmt.Fprintf(&out, "%s %s +%d −%d", c.Change, c.Path, c.Added, c.Removed)
		for _, note := range []string{c.Summary, c.AskReason} {
			if note != "" {
				out.WriteString(" · " + note)
			}
		}
		if c.Conflict {
			out.WriteString(" · changed in the workspace meanwhile")
		}
		out.WriteByte('\n')
	}
	if r.Unlisted > 0 {
		fmt.Fprintf(&out, "and %s\n", plural.Of(r.Unlisted, "more file"))
	}
	for _, left := range r.Skipped {
		fmt.Fprintf(&out, "cannot be taken: %s\n", left)
	}
	for _, c := range r.Commands {
		fmt.Fprintf(&out, "ran: $ %s%s\n", oneLine(c.Command, 200), c.end())
	}
	if len(r.Hosts) > 0 {
		fmt.Fprintf(&out, "hosts: %s\n", strings.Join(r.Hosts, ", "))
	}
	return out.String()
}

func (c RanCommand) end() string {
	switch {
	case c.Ended != "":
		return " · " + c.Ended
	case c.Exit != nil && *c.Exit != 0:
		return fmt.Sprintf(" · exit %d", *c.Exit)
	}
	return ""
}

func stage(s Stage) tool.Tool {
	return tool.Define(StageTool, tool.Config[stageArgs, StageReport]{
		Description: describe("stage"),
		Permissions: tool.Permissions{Optional: []tool.Permission{tool.Read, tool.Write}},
		Needs:       func(stageArgs) []tool.Need { return tool.StateNeed("the changes of the staged turn") },
		Unoffered:   true,
		Tags:        []string{"stage", "review", "take", "drop"},
		Safety:      tool.Safety{ThreatLevel: "high"},
		Redact:      tool.Expose("decision", "files", "more", "left", "commands", "hosts"),
		Run:         stager{s}.run,
		View:        viewStage,
	})
}

type stager struct{ stage Stage }

func (g stager) run(ctx context.Context, c tool.Context[StageReport], in stageArgs) (tool.Result[StageReport], error) {
	result := tool.Result[StageReport]{Title: "the changes of the turn"}
	if g.stage == nil || c.Agent != "" {
		return result, tool.Fail(tool.CodeDenied, "%w", ErrNotYours)
	}
	s, err := g.stage.Review()
	if errors.Is(err, ErrNotYours) {
		return result, tool.Fail(tool.CodeDenied, "%w", err)
	}
	if err != nil {
		return result, tool.Fail(tool.CodeIO, "%w", err)
	}
	if s.Empty() {
		result.Title, result.Output = "no changes wait", "no changes wait"
		return result, nil
	}
	result.Metadata = s.Report("kept")
	v := newReview(s.Files)
	var choices []proc.FileChoice
	switch in.Decision {
	case StageDrop:
		return g.drop(result, s)
	case StageTake:
		if err := c.Ask(ctx, staged(s)); err != nil {
			return result, err
		}
		for _, f := range s.Files { // changes that only the user can allow were not shown
			choices = append(choices, proc.FileChoice{Apply: f.AskReason == ""})
		}
	default:
		refused, _, err := c.Review(ctx, staged(s), reviewed(s), v.withNotes(s))
		if ctx.Err() != nil {
			return result, ctx.Err()
		}
		if errors.Is(err, tool.ErrDenied) && g.stage != nil {
			return g.drop(result, s)
		}
		if err != nil {
			return result, err
		}
		choices = v.choices(refused)
	}
	found, err := g.stage.Take(string(c.CallID), choices)
	if err != nil {
		return result, tool.Fail(tool.CodeStale, "%w", err)
	}
	taken, left := s.outcome(choices)
	result.Metadata.Decision = "taken"
	result.Changed = taken
	result.Title = "took " + plural.Of(len(taken), "file")
	lines := []string{"taken: " + named(taken, ", ")}
	if len(left) > 0 {
		result.Title += fmt.Sprintf(", dropped %d", len(left))
		lines = append(lines, "dropped: "+named(left, ", "))
	}
	for _, told := range found.Messages {
		lines = append(lines, "not taken: "+told)
	}
	result.Output = strings.Join(append(lines, found.Notes...), "\n")
	return result, nil
}

// staged returns the need to apply a stage.
func staged(s Staged) tool.Need {
	return tool.Need{Permission: tool.Write, Target: "the changes of the turn: " + plural.Of(len(s.Files), "file"), Reach: tool.OwnStage}
}

// reviewed returns the sentence above the changes.
func reviewed(s Staged) string {
	if len(s.Conflicts) > 0 {
		return "drop the hunks of " + named(s.Conflicts, ", ") + ", which changed in the workspace meanwhile"
	}
	return "nothing of this is in the workspace yet"
}

// outcome splits the files into taken and left ones.
func (s Staged) outcome(choices []proc.FileChoice) (taken, left []string) {
	for i, f := range s.Files {
		if i < len(choices) && choices[i].Apply {
			taken = append(taken, f.Path)
		} else {
			left = append(left, f.Path)
		}
	}
	return taken, left
}

func (g stager) drop(result tool.Result[StageReport], s Staged) (tool.Result[StageReport], error) {
	if err := g.stage.Drop(); err != nil {
		return result, tool.Fail(tool.CodeIO, "%w", err)
	}
	result.Metadata.Decision = "dropped"
	result.Title = "dropped " + plural.Of(len(s.Files), "file")
	_, all := s.outcome(nil)
	result.Output = "dropped: " + named(all, ", ") + "; the workspace is as it was before the turn"
	return result, nil
}

// withNotes puts the commands before the changes.
func (v review) withNotes(s Staged) []tool.Block {
	r := StageReport{Commands: s.Commands, Hosts: s.Hosts, Skipped: s.Skipped}
	return append(tool.Text(strings.TrimSuffix(r.String(), "\n")), v.blocks...)
}

func viewStage(r StageReport) (out []tool.Block) {
	for _, c := range r.Files {
		title := c.Path + " · " + c.Change
		if c.Summary != "" {
			title += " · " + c.Summary
		}
		out = append(out, tool.Block{Kind: tool.DiffBlock, Path: c.Path, Title: title, Text: c.Diff})
	}
	if rest := (StageReport{Commands: r.Commands, Hosts: r.Hosts, Skipped: r.Skipped}).String(); rest != "" {
		out = append(out, tool.Text(strings.TrimSuffix(rest, "\n"))...)
	}
	return out
}
