package toolset

import (
	"context"
	"fmt"
	"path"
	"strings"

	"adze/internal/files/search"
	"adze/internal/text/plural"
	"adze/tool"
)

// Limits for one list.
const (
	listLimit = 1000
	listDepth = 20
	listShown = 200 // in panes and the log
)

type listArgs struct {
	Path   string `json:"path,omitempty" doc:"default: the workspace" offer:"plain"`
	Depth  int    `json:"depth,omitempty" min:"0" doc:"default 1"`
	Ignore string `json:"ignore,omitempty" doc:"globs, comma separated"`
	Limit  int    `json:"limit,omitempty" min:"0" doc:"most entries to return" offer:"-"`
}

type listMeta struct {
	Path    string   `json:"path"`
	Folders int      `json:"folders"`
	Files   int      `json:"files"`
	Omitted int      `json:"left,omitempty"` // entries over the limit
	Rows    []string `json:"rows,omitempty"`
}

func list(s seeker) tool.Tool {
	return tool.Define("list", tool.Config[listArgs, listMeta]{
		ProviderSchema: compactSchema[listArgs](s.brief, "path: folder", "depth: levels of folders"),
		Description:    describe(s.words("list"), limits{"limit": listLimit}),
		Permissions:    tool.Requires(tool.Read),
		Tags:           []string{"file", "folder", "directory", "ls", "tree"},
		Aliases:        []string{"list_files", "ls", "list_directory", "list_dir", "directory_tree", "tree"},
		Compat: tool.Compat{
			Args:    folderAliases(map[string]string{"max_depth": "depth", "exclude": "ignore", "ignore_globs": "ignore", "ignore_patterns": "ignore"}),
			Ignored: ignoredInWalks(map[string][]any{"recursive": {false}, "show_hidden": {true}, "all": {true}}),
			Adapt:   asWalk,
		},
		Safety:  tool.Safety{Safe: true},
		Output:  s.bounds.withFoot(),
		Redact:  tool.Expose("path", "depth", "ignore", "limit", "folders", "files", "left"),
		Needs:   func(in listArgs) []tool.Need { return folderNeeds(in.Path) },
		Run:     lister{s}.run,
		View:    func(m listMeta) []tool.Block { return tool.List(m.Rows) },
		Heading: headList,
	})
}

type lister struct{ seeker }

type listResult = tool.Result[listMeta]

func (l lister) run(ctx context.Context, c tool.Context[listMeta], in listArgs) (listResult, error) {
	at, err := l.beginFolder(ctx, c.Ask, in.Path, "read it, or list its folder")
	if err != nil {
		return listResult{}, err
	}
	q := search.ListQuery{
		Depth: bounded(in.Depth, 1, listDepth), Ignore: l.relative(at, globs(in.Ignore)...), Limit: bounded(in.Limit, listLimit, l.bounds.most()),
	}
	r, err := at.List(ctx, q)
	if err != nil {
		return listResult{}, err
	}
	rows := make([]string, len(r.Entries))
	for i, e := range r.Entries {
		rows[i] = listRow(e)
	}
	rows = leaveOut(rows, l.bounds.fit(rows), &r)
	meta := listMeta{Path: at.path.Display(), Folders: r.Folders, Files: r.Files, Omitted: r.LeftFolders + r.LeftFiles}
	meta.Rows = rows[:min(len(rows), listShown)]
	return listResult{
		Metadata: meta,
		Output:   strings.Join(append(rows, listFooter(at, q, r)), "\n"),
	}, nil
}

// leaveOut keeps the first rows and counts the rest as left out.
func leaveOut(rows []string, kept int, r *search.ListResult) []string {
	for _, e := range r.Entries[kept:] {
		if e.Folder {
			r.LeftFolders++
		} else {
			r.LeftFiles++
		}
	}
	return rows[:kept]
}

// listRow formats one entry, indented below its folder.
func listRow(e search.Entry) string {
	row := strings.Repeat("  ", e.Depth-1) + shownName(path.Base(e.Path))
	switch {
	case e.Folder:
		row += "/"
	case e.Link:
		row += "@ -> " + shownName(e.Target)
	case e.Special:
		row += "  not a regular file"
	default:
		row += "  " + plural.Size(e.Size)
	}
	if e.Ignored {
		row += "  (ignored)"
	}
	return row
}

func listTotals(folders, files int) string {
	return plural.Of(folders, "folder") + ", " + plural.Of(files, "file")
}

func listFooter(at place, q search.ListQuery, r search.ListResult) string {
	totals, left, ignored := listTotals(r.Folders, r.Files), "", ""
	if r.Folders+r.Files == 0 {
		totals = "the folder is empty"
		if len(q.Ignore) > 0 {
			totals = "nothing is left to list; ignore may leave out too much"
		}
	}
	if r.LeftFolders+r.LeftFiles > 0 {
		left = listTotals(r.LeftFolders, r.LeftFiles) + " not shown: list a folder by itself, or use glob"
	}
	if r.Ignored > 0 {
		ignored = fmt.Sprintf("%d below not shown because git ignores them", r.Ignored)
	}
	return noted(totals, left, ignored, at.unread(r.Unreadable))
}
