package toolset

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"adze/internal/files/git"
	"adze/internal/text/plural"
	"adze/tool"
)

// Bounds of one git_log, in commits.
const (
	gitLogLimit = 30
	gitLogMost  = 300
	gitLogWidth = 200 // characters of a subject
)

type gitLogArgs struct {
	Path   string `json:"path,omitempty" doc:"file or folder; default: the workspace" offer:"plain"`
	Commit string `json:"commit,omitempty" doc:"where to begin, or a..b; default HEAD"`
	Since  string `json:"since,omitempty" doc:"2026-01-31 or 2 weeks ago"`
	Until  string `json:"until,omitempty" doc:"as since" offer:"-"`
	Author string `json:"author,omitempty" doc:"part of name or address" offer:"plain"`
	Grep   string `json:"grep,omitempty" doc:"text in the message"`
	Limit  int    `json:"limit,omitempty" min:"0" doc:"default 30" offer:"plain"`
	Skip   int    `json:"skip,omitempty" min:"0" max:"1000000" doc:"commits to leave out first" offer:"plain"`
}

type gitLogMeta struct {
	Path    string      `json:"path"`
	Commits int         `json:"commits"`
	More    bool        `json:"more,omitempty"`
	Rows    []tool.Item `json:"rows,omitempty"`
}

func gitLog(g repos) tool.Tool {
	return tool.Define("git_log", tool.Config[gitLogArgs, gitLogMeta]{
		Description: describe("git_log"),
		Permissions: tool.Requires(tool.Read),
		Tags:        []string{"git", "log", "history", "commits", "author", "blame"},
		Aliases:     []string{"git_history"},
		ArgAliases: pathAliases(map[string]string{
			"range": "commit", "revision": "commit", "branch": "commit", "ref": "commit", "max_count": "limit", "n": "limit",
			"after": "since", "before": "until", "message": "grep", "query": "grep", "offset": "skip",
		}),
		Safety:  tool.Safety{Safe: true},
		Redact:  tool.Expose("path", "commit", "since", "until", "author", "grep", "limit", "skip", "commits", "more"),
		Needs:   func(in gitLogArgs) []tool.Need { return folderNeeds(in.Path) },
		Run:     gitLogger{g}.run,
		Heading: headGitLog,
		View: func(m gitLogMeta) []tool.Block {
			return []tool.Block{{Kind: tool.ListBlock, Items: m.Rows}}
		},
	})
}

type gitLogger struct{ repos }

type gitLogResult = tool.Result[gitLogMeta]

func (g gitLogger) run(ctx context.Context, c tool.Context[gitLogMeta], in gitLogArgs) (gitLogResult, error) {
	at, err := g.begin(ctx, c.Ask, in.Path)
	if err != nil {
		return gitLogResult{}, err
	}
	log, err := at.Log(ctx, git.LogQuery{
		Range: in.Commit, Path: at.logSpec(), Follow: !at.folder, Since: in.Since, Until: in.Until,
		Author: in.Author, Grep: in.Grep, Skip: in.Skip, Limit: bounded(in.Limit, gitLogLimit, gitLogMost),
	})
	if err != nil {
		return gitLogResult{}, err
	}
	if len(log.Commits) == 0 && !log.Unborn && !at.path.Exists() && in.Since+in.Until+in.Author+in.Grep == "" && in.Skip == 0 {
		return gitLogResult{}, g.nowhere(at, "and no commit of "+cmp.Or(in.Commit, "HEAD")+" changed it")
	}
	lines, rows := make([]string, len(log.Commits)), make([]tool.Item, len(log.Commits))
	for i, c := range log.Commits {
		lines[i] = commitLine(c)
		rows[i] = tool.Item{Text: oneLine(c.Subject, gitLogWidth), Note: c.Hash + " " + c.Date + " " + c.Author}
	}
	return gitLogResult{
		Title:    fmt.Sprintf("%s of %s", plural.Of(len(rows), "commit"), at),
		Metadata: gitLogMeta{Path: at.path.Display(), Commits: len(rows), More: log.More, Rows: rows},
		Output:   strings.Join(append(lines, logFooter(at, in, log)), "\n"),
	}, nil
}

// logSpec is nothing for the whole repository: a path, even that of everything, hides merges.
func (p gitPlace) logSpec() string {
	if p.folder && p.path.Abs() == p.Top {
		return ""
	}
	return p.spec
}

func commitLine(c git.Commit) string {
	line := fmt.Sprintf("%s %s %s: %s", c.Hash, c.Date, shownName(c.Author), oneLine(shownName(c.Subject), gitLogWidth))
	if c.Refs != "" {
		line += " (" + shownName(c.Refs) + ")"
	}
	return line
}

// logFooter says how many there are and where more may be.
func logFooter(at gitPlace, in gitLogArgs, log git.Log) string {
	n := len(log.Commits)
	switch {
	case log.Unborn:
		return "(the repository has no commits yet)"
	case n == 0 && in.Skip > 0:
		return fmt.Sprintf("(no commits beyond the first %d; lower skip)", in.Skip)
	case n == 0 && in.Since+in.Until+in.Author+in.Grep != "":
		return "(no commit matches; widen since, until, author or grep: all of them must hold)"
	case n == 0:
		return fmt.Sprintf("(no commit changed %s)", at)
	case log.More:
		return fmt.Sprintf("(%s; older ones follow with skip %d)", plural.Of(n, "commit"), in.Skip+n)
	}
	return "(" + plural.Of(n, "commit") + ", that is all)"
}
