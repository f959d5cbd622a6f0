package toolset

import (
	"context"
	"fmt"
	"strings"

	"adze/internal/files/git"
	"adze/tool"
)

// Limits for one git_status.
const (
	gitStatusLimit = 100 // entries in each group
	gitStatusShown = 200 // rows in panes and the log
)

type gitStatusArgs struct {
	Path string `json:"path,omitempty" doc:"file or folder; default: the workspace" offer:"plain"`
}

type gitStatusMeta struct {
	Path      string      `json:"path"`
	Branch    string      `json:"branch,omitempty"`
	Ahead     int         `json:"ahead,omitempty"`
	Behind    int         `json:"behind,omitempty"`
	Staged    int         `json:"staged"`
	Changed   int         `json:"changed"`
	Conflicts int         `json:"conflicts"`
	Untracked int         `json:"untracked"`
	Rows      []tool.Item `json:"rows,omitempty"`
}

func gitStatus(g repos) tool.Tool {
	return tool.Define("git_status", tool.Config[gitStatusArgs, gitStatusMeta]{
		Description: describe("git_status"),
		Permissions: tool.Requires(tool.Read),
		Tags:        []string{"git", "status", "branch", "changes", "staged", "untracked"},
		Compat:      tool.Compat{Args: pathAliases(map[string]string{"directory": "path", "dir": "path", "folder": "path"})},
		Safety:      tool.Safety{Safe: true},
		Redact:      tool.Expose("path", "branch", "ahead", "behind", "staged", "changed", "conflicts"),
		Needs:       func(in gitStatusArgs) []tool.Need { return folderNeeds(in.Path) },
		Run:         gitStater{g}.run,
		Heading:     headGitStatus,
		View: func(m gitStatusMeta) []tool.Block {
			return []tool.Block{{Kind: tool.ListBlock, Title: m.Branch, Items: m.Rows}}
		},
	})
}

type gitStater struct{ repos }

type gitStatusResult = tool.Result[gitStatusMeta]

func (g gitStater) run(ctx context.Context, c tool.Context[gitStatusMeta], in gitStatusArgs) (gitStatusResult, error) {
	at, err := g.begin(ctx, c.Ask, in.Path)
	if err != nil {
		return gitStatusResult{}, err
	}
	s, err := at.Status(ctx, at.spec, git.UntrackedNormal, gitStatusLimit)
	if err != nil {
		return gitStatusResult{}, err
	}
	if s.Clean() && !at.path.Exists() {
		return gitStatusResult{}, g.nowhere(at, "and git does not miss it")
	}
	lines, rows := []string{branchLine(s)}, []tool.Item(nil)
	for _, g := range []statusGroup{{s.Conflicts, "conflicts"}, {s.Staged, "staged"}, {s.Changed, "changed, not staged"}, {s.Untracked, "untracked"}} {
		lines = append(lines, g.lines(at)...)
		rows = append(rows, g.rows(at)...)
	}
	lines = append(lines, statusNotes(at, s)...)
	if submodules := at.CheckedOutSubmodules(ctx); len(submodules) > 0 {
		for i, path := range submodules {
			submodules[i] = at.name(path)
		}
		lines = append(lines, "(changes inside submodules are not looked at; give one as path: "+strings.Join(submodules, ", ")+")")
	}
	return gitStatusResult{
		Title: branchLine(s),
		Metadata: gitStatusMeta{
			Path: at.path.Display(), Branch: branchName(s), Ahead: s.Ahead, Behind: s.Behind,
			Staged: s.Staged.Total, Changed: s.Changed.Total, Conflicts: s.Conflicts.Total, Untracked: s.Untracked.Total,
			Rows: rows[:min(len(rows), gitStatusShown)],
		},
		Output: strings.Join(lines, "\n"),
	}, nil
}

// statusGroup is one kind of entries with its heading.
type statusGroup struct {
	git.Group
	word string
}

func (g statusGroup) lines(at gitPlace) (lines []string) {
	if g.Total == 0 {
		return nil
	}
	lines = append(lines, fmt.Sprintf("%s (%d):", g.word, g.Total))
	for _, e := range g.Entries {
		lines = append(lines, "  "+strings.TrimSpace(e.State+" "+at.arrow(e.OldName, e.Path)))
	}
	if left := g.Total - len(g.Entries); left > 0 {
		lines = append(lines, fmt.Sprintf("  (%d more not shown; give a path)", left))
	}
	return lines
}

func (g statusGroup) rows(at gitPlace) []tool.Item {
	items := make([]tool.Item, len(g.Entries))
	for i, e := range g.Entries {
		items[i] = tool.Item{Text: at.arrow(e.OldName, e.Path), Note: strings.TrimSpace(g.word + " " + e.State)}
	}
	return items
}

func branchName(s git.Status) string {
	switch {
	case s.Branch != "":
		return s.Branch
	case s.Commit != "":
		return "detached at " + s.Commit[:min(len(s.Commit), 12)]
	}
	return "no branch"
}

func branchLine(s git.Status) string {
	line := "on " + shownName(branchName(s))
	if s.Branch == "" {
		line = branchName(s)
	}
	if s.Commit == "" {
		line += ", no commits yet"
	}
	switch {
	case s.UpstreamGone:
		line += ", its upstream " + shownName(s.Upstream) + " is gone"
	case s.Upstream != "" && s.Ahead+s.Behind == 0:
		line += ", level with " + shownName(s.Upstream)
	case s.Upstream != "":
		line += fmt.Sprintf(", %d ahead and %d behind %s", s.Ahead, s.Behind, shownName(s.Upstream))
	}
	if s.Operation != "" {
		line += ", in the middle of " + s.Operation
	}
	return line
}

func statusNotes(at gitPlace, s git.Status) (notes []string) {
	if s.Clean() {
		notes = append(notes, "(clean: nothing changed in "+at.String()+")")
	}
	if len(s.Filtered) > 0 {
		for i, f := range s.Filtered {
			s.Filtered[i] = at.name(f)
		}
		notes = append(notes, fmt.Sprintf("(may be unchanged, because the git filter they pass through is not run here: %s)", strings.Join(s.Filtered, ", ")))
	}
	return notes
}
