package toolset

import (
	"context"
	"fmt"
	"strings"

	"adze/internal/files/git"
	"adze/internal/text/plural"
	"adze/tool"
)

// Bounds of one git_diff. Patch and footer together stay below what the pipeline lets through.
const (
	gitDiffLines  = 1700
	gitDiffBytes  = 42 << 10
	gitDiffRaw    = 1 << 20 // bytes of patch that are looked at
	gitDiffFiles  = 300     // named in a list of counts
	gitDiffLeft   = 20      // named among those that were left out
	gitDiffColumn = 1000    // bytes of a line
)

type gitDiffArgs struct {
	Path   string `json:"path,omitempty" doc:"file or folder; default: the workspace" offer:"plain"`
	Staged bool   `json:"staged,omitempty" doc:"what the next commit would hold" offer:"plain"`
	Base   string `json:"base,omitempty" doc:"commit or branch to compare with"`
	Commit string `json:"commit,omitempty" doc:"one to show, a..b, or a...b since they parted"`
	Stat   bool   `json:"stat,omitempty" doc:"counts per file only"`
}

type gitDiffMeta struct {
	Path    string `json:"path"`
	Files   int    `json:"files"`
	Added   int    `json:"added"`
	Deleted int    `json:"deleted"`
	// Withheld are files that the gate does not let be read unasked.
	Withheld int    `json:"withheld,omitempty"`
	Diff     string `json:"diff,omitempty"`
	// Counts is one row a file when only those were asked for.
	Counts []string `json:"counts,omitempty"`
}

func gitDiff(g repos) tool.Tool {
	return tool.Define("git_diff", tool.Config[gitDiffArgs, gitDiffMeta]{
		Description: describe("git_diff", limits{"lines": gitDiffLines}),
		Permissions: tool.Requires(tool.Read),
		Tags:        []string{"git", "diff", "show", "changes", "patch", "commit", "compare"},
		Aliases:     []string{"git_show"},
		ArgAliases: pathAliases(map[string]string{
			"cached": "staged", "range": "commit", "revision": "commit", "target": "base", "against": "base", "stat_only": "stat",
		}),
		Safety: tool.Safety{Safe: true},
		Redact: tool.Expose("path", "staged", "base", "commit", "stat", "files", "added", "deleted", "withheld"),
		Needs:  func(in gitDiffArgs) []tool.Need { return folderNeeds(in.Path) },
		Run:    gitDiffer{g}.run,
		View:   viewGitDiff, Heading: headGitDiff,
	})
}

type gitDiffer struct{ repos }

type gitDiffResult = tool.Result[gitDiffMeta]

func (g gitDiffer) run(ctx context.Context, c tool.Context[gitDiffMeta], in gitDiffArgs) (gitDiffResult, error) {
	at, err := g.begin(ctx, c.Ask, in.Path)
	if err != nil {
		return gitDiffResult{}, err
	}
	d, err := at.Diff(ctx, git.DiffQuery{
		Path: at.spec, Staged: in.Staged, Base: in.Base, Range: in.Commit, Strip: at.strip, Add: at.add,
		Stat: in.Stat, MaxFiles: gitDiffRaw >> 8, MaxBytes: gitDiffRaw, Withhold: g.unseen(at),
	})
	if err != nil {
		return gitDiffResult{}, err
	}
	if d.Unknown && !at.path.Exists() {
		return gitDiffResult{}, g.nowhere(at, "neither here nor in git")
	}
	meta := gitDiffMeta{Path: at.path.Display(), Files: d.TotalFiles, Added: d.Added, Deleted: d.Deleted, Withheld: d.Withheld}
	out := commitHeader(d.Commit)
	switch {
	case d.TotalFiles == 0 && d.Withheld > 0:
		out += noted("nothing else differs in "+at.String(), leftOut(d.Withheld))
	case d.TotalFiles == 0:
		out += fmt.Sprintf("(nothing differs in %s%s)", at, diffHint(in, d))
	case in.Stat:
		meta.Counts = countRows(at, d.Files[:min(len(d.Files), gitDiffFiles)])
		out += strings.Join(append(meta.Counts, statFooter(d, len(meta.Counts))), "\n")
	default:
		shown := cutPatch(d.Patch)
		meta.Diff = shownDiff(shown)
		out += shown + patchFooter(at, d, shown)
	}
	title := fmt.Sprintf("%s, +%d -%d", plural.Of(d.TotalFiles, "file"), d.Added, d.Deleted)
	return gitDiffResult{Title: title, Metadata: meta, Output: out}, nil
}

// commitHeader introduces one commit as git show does.
func commitHeader(m *git.Message) string {
	if m == nil {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "commit %s\nauthor %s\ndate %s\n", m.Hash, m.Author, m.Date)
	if m.Parents > 1 {
		fmt.Fprintf(&b, "merge of %d parents, compared with the first\n", m.Parents)
	}
	text := m.Text
	if len(text) > 4<<10 {
		text = strings.ToValidUTF8(text[:4<<10], "") + "…"
	}
	for line := range strings.Lines(text) {
		fmt.Fprintf(&b, "    %s\n", strings.TrimRight(line, "\r\n"))
	}
	return b.String() + "\n"
}

// diffHint says where changes may be that this call did not compare.
func diffHint(in gitDiffArgs, d git.Diff) string {
	switch {
	case d.Unknown:
		return ": git does not track it; read shows what is in it"
	case in.Commit != "":
		return " there"
	case in.Staged:
		return "; nothing is staged. Without staged, the work tree is compared"
	case in.Base != "":
		return "; untracked files are in git_status"
	}
	return "; staged changes show with staged: true, untracked files in git_status"
}

func countRows(at gitPlace, files []git.FileDiff) []string {
	rows := make([]string, len(files))
	for i, f := range files {
		rows[i] = at.arrow(f.From, f.Path) + " " + changeCount(f)
	}
	return rows
}

func changeCount(f git.FileDiff) string {
	if f.Binary {
		return "binary"
	}
	return fmt.Sprintf("+%d -%d", f.Added, f.Deleted)
}

func diffTotals(d git.Diff) string {
	return fmt.Sprintf("%s changed, +%d -%d", plural.Of(d.TotalFiles, "file"), d.Added, d.Deleted)
}

func statFooter(d git.Diff, shown int) string {
	left := ""
	if shown < d.TotalFiles {
		left = fmt.Sprintf("%d of them not shown: give a path", d.TotalFiles-shown)
	}
	return noted(diffTotals(d), left, leftOut(d.Withheld))
}

// cutPatch bounds a patch: long lines are cut, and it ends after a whole line.
func cutPatch(patch string) string {
	var b strings.Builder
	n := 0
	for line := range strings.Lines(patch) {
		line = strings.ToValidUTF8(strings.TrimSuffix(line, "\n"), "\uFFFD")
		if len(line) > gitDiffColumn {
			line = strings.ToValidUTF8(line[:gitDiffColumn], "") + fmt.Sprintf(" … (%d bytes more)", len(line)-gitDiffColumn)
		}
		if n++; n > gitDiffLines || b.Len()+len(line) >= gitDiffBytes {
			break
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// patchFooter gives the totals and, where something was left out, how much and how to get it.
func patchFooter(at gitPlace, d git.Diff, shown string) string {
	left := d.PatchLines - int64(strings.Count(shown, "\n"))
	if left <= 0 {
		return noted(diffTotals(d), leftOut(d.Withheld))
	}
	words := fmt.Sprintf("%d of %d lines not shown: give a path, or stat: true", left, d.PatchLines)
	begun := len(patchSections(shown))
	if begun >= d.TotalFiles {
		return noted(diffTotals(d), words, leftOut(d.Withheld))
	}
	unseen := d.Files[min(begun, len(d.Files)):]
	rows := countRows(at, unseen[:min(len(unseen), gitDiffLeft)])
	if more := d.TotalFiles - begun - len(rows); more > 0 {
		rows = append(rows, fmt.Sprintf("and %s more", plural.Of(more, "file")))
	}
	return noted(diffTotals(d), words, leftOut(d.Withheld), "not begun: "+strings.Join(rows, ", "))
}

// patchSection is the patch of one file.
type patchSection struct{ path, text string }

// patchSections parts a patch by file. Lines of content begin with a blank, +, - or \, so a line
// that begins with "diff --" is a header; two sections with the same one are a file that changed
// its type.
func patchSections(patch string) (all []patchSection) {
	header := ""
	for line := range strings.Lines(patch) {
		switch {
		case strings.HasPrefix(line, "diff --") && line != header, strings.HasPrefix(line, "* Unmerged path "):
			header = line
			all = append(all, patchSection{path: headerPath(line)})
		case len(all) == 0:
			continue
		}
		all[len(all)-1].text += line
	}
	return all
}

// headerPath is the new name in "diff --git a/old b/new", "diff --cc name" or "* Unmerged path
// name"; names with blanks make the first ambiguous, which a half that repeats resolves.
func headerPath(line string) string {
	line = strings.TrimSuffix(line, "\n")
	for _, start := range []string{"diff --cc ", "diff --combined ", "* Unmerged path "} {
		if rest, ok := strings.CutPrefix(line, start); ok {
			return rest
		}
	}
	rest := strings.TrimPrefix(line, "diff --git ")
	if half := len(rest) / 2; len(rest)%2 == 1 && strings.TrimPrefix(rest[:half], "a/") == strings.TrimPrefix(rest[half+1:], "b/") {
		return strings.TrimPrefix(rest[half+1:], "b/")
	}
	if i := strings.LastIndex(rest, " b/"); i >= 0 {
		return rest[i+3:]
	}
	return rest
}

func viewGitDiff(m gitDiffMeta) []tool.Block {
	if len(m.Counts) > 0 {
		return tool.List(m.Counts)
	}
	const most = 50
	var blocks []tool.Block
	for _, s := range patchSections(m.Diff) {
		if len(blocks) == most {
			break
		}
		blocks = append(blocks, tool.Diff(s.path, s.text)...)
	}
	return blocks
}
