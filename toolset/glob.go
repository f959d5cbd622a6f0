package toolset

import (
	"context"
	"fmt"
	"strings"

	"adze/internal/files/search"
	"adze/internal/text/plural"
	"adze/tool"
)

// Limits for one glob.
const (
	globLimit = 100
	globShown = 200 // in panes and the log
)

type globArgs struct {
	Pattern string `json:"pattern" doc:"relative to path, such as **/*.{ts,tsx}"`
	Path    string `json:"path,omitempty" doc:"folder; default: the workspace" offer:"plain"`
	Limit   int    `json:"limit,omitempty" min:"0" doc:"most files to return" offer:"-"`
}

type globMeta struct {
	Pattern string `json:"pattern"`
	Path    string `json:"path"`
	Total   int    `json:"total"`
	Shown   int    `json:"shown"`
	// Withheld counts files that the gate does not allow to be read unasked.
	Withheld int      `json:"withheld,omitempty"`
	Paths    []string `json:"paths,omitempty"`
}

func glob(s seeker) tool.Tool {
	return tool.Define("glob", tool.Config[globArgs, globMeta]{
		ProviderSchema: compactSchema[globArgs](s.brief, "pattern: such as **/*.go", "path: folder"),
		Description:    describe(s.words("glob"), limits{"limit": globLimit}),
		Permissions:    tool.Requires(tool.Read),
		Tags:           []string{"file", "find", "name", "pattern", "search"},
		Aliases:        []string{"find_files", "find", "glob_search", "glob_files"},
		Compat: tool.Compat{
			Similar: []string{"file_search", "find_by_name"},
			Args:    folderAliases(map[string]string{"glob": "pattern", "glob_pattern": "pattern", "query": "pattern"}),
			Ignored: ignoredInWalks(map[string][]any{"case_sensitive": {true}}),
			Adapt:   asWalk,
		},
		Safety:  tool.Safety{Safe: true},
		Output:  s.bounds.withFoot(),
		Redact:  tool.Expose("pattern", "path", "limit", "total", "shown", "withheld"),
		Needs:   func(in globArgs) []tool.Need { return folderNeeds(in.Path) },
		Run:     globber{s}.run,
		View:    func(m globMeta) []tool.Block { return tool.List(m.Paths) },
		Heading: headGlob,
	})
}

type globber struct{ seeker }

type globResult = tool.Result[globMeta]

func (g globber) run(ctx context.Context, c tool.Context[globMeta], in globArgs) (globResult, error) {
	at, err := g.beginFolder(ctx, c.Ask, in.Path, "give its folder, or read it")
	if err != nil {
		return globResult{}, err
	}
	q := search.GlobQuery{Pattern: g.relative(at, in.Pattern)[0], Limit: bounded(in.Limit, globLimit, g.bounds.most())}
	from := at.path.Display()
	at, stop := at.watched(func(n int64) {
		c.Metadata(fmt.Sprintf("%s, %s so far", in.Pattern, plural.Of(n, "file")), globMeta{Pattern: in.Pattern, Path: from, Total: int(n)})
	})
	r, err := at.Glob(ctx, q)
	stop()
	if err != nil {
		return globResult{}, err
	}
	names := make([]string, len(r.Files))
	for i, f := range r.Files {
		names[i] = at.name(f.Path)
	}
	names = names[:g.bounds.fit(names)]
	meta := globMeta{Pattern: in.Pattern, Path: at.path.Display(), Total: r.Total, Shown: len(names), Withheld: r.Withheld}
	meta.Paths = names[:min(len(names), globShown)]
	return globResult{
		Metadata: meta,
		Output:   strings.Join(append(names, globFooter(at, in, r, len(names))), "\n"),
	}, nil
}

// globFooter returns the total and, if results may be missing, how to get them.
func globFooter(at place, in globArgs, r search.GlobResult, shown int) string {
	total := plural.Of(r.Total, "file")
	switch {
	case r.Total == 0 && r.Withheld > 0:
		total = fmt.Sprintf("no other file in %s matches %s", at, in.Pattern)
	case r.Total == 0:
		total = fmt.Sprintf("no file in %s matches %s%s", at, in.Pattern, globHint(in.Pattern))
	case shown < r.Total:
		total = fmt.Sprintf("%d of %s, newest first; narrow the pattern or path", shown, total)
	}
	return noted(total, leftOut(r.Withheld), at.unread(r.Unreadable))
}

// globHint suggests the meaning of a pattern without matches.
func globHint(pattern string) string {
	if strings.HasPrefix(pattern, "!") || strings.Contains(pattern, ",") && !strings.Contains(pattern, "{") {
		return "; it takes one pattern: {a,b} names alternatives, and ! leaves nothing out"
	}
	if !strings.Contains(pattern, "/") && !strings.HasPrefix(pattern, "**") {
		return fmt.Sprintf("; it only looks in that one folder: **/%s looks in all below", pattern)
	}
	return "; folders, ignored files, and hidden ones whose dot the pattern does not name are left out: list shows them"
}
