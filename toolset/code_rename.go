package toolset

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"adze/internal/editors/lsp"
	"adze/internal/files/diff"
	"adze/internal/files/workspace"
	"adze/internal/text/plural"
	"adze/tool"
)

type renameArgs struct {
	Path    string `json:"path" doc:"file where the name stands"`
	Line    int    `json:"line" min:"1" doc:"its line, from 1"`
	Symbol  string `json:"symbol" doc:"the name, as it stands on that line"`
	NewName string `json:"new_name" doc:"the new name"`
}

type renameMeta struct {
	Path   string   `json:"path"`
	Files  int      `json:"files"`
	Places int      `json:"places"`
	Rows   []string `json:"rows,omitempty"`
	Diff   string   `json:"diff,omitempty"`
	Check  string   `json:"check,omitempty"`
}

func rename(l linguist) tool.Tool {
	return tool.Define("rename", tool.Config[renameArgs, renameMeta]{
		Description: describe("rename"),
		Permissions: tool.Requires(tool.Write),
		Tags:        []string{"code", "symbol", "refactor"},
		Aliases:     []string{"rename_symbol", "lsp_rename"},
		Compat:      tool.Compat{Args: pathAliases(map[string]string{"name": "symbol", "old_name": "symbol", "newName": "new_name", "to": "new_name", "line_number": "line"})},
		Redact:      tool.Expose("path", "line", "files", "places"),
		Needs: func(in renameArgs) []tool.Need {
			return []tool.Need{{Permission: tool.Write, Target: in.Path}}
		},
		Run:  l.rename,
		View: func(m renameMeta) []tool.Block { return append(tool.List(m.Rows), tool.Diff(m.Path, m.Diff)...) },
	})
}

type renameFile struct {
	lsp.Rewrite
	path workspace.Path
}

// nameOnly reports whether a new name looks like an identifier: a server would insert any other
// text unchanged.
func nameOnly(name string) bool {
	return regexp.MustCompile(`^[\pL_$][\pL\pN_$\-?!']*$`).MatchString(name)
}

func (l linguist) rename(ctx context.Context, c tool.Context[renameMeta], in renameArgs) (tool.Result[renameMeta], error) {
	var none tool.Result[renameMeta]
	if !nameOnly(in.NewName) {
		return none, tool.Fail(tool.CodeInvalidArguments, "%q is no name", in.NewName)
	}
	p, err := l.source(ctx, c.Ask, in.Path)
	if err != nil {
		return none, err
	}
	all, err := l.code.Rename(ctx, lsp.Spot{Path: p.Abs(), Line: in.Line, Name: in.Symbol}, in.NewName)
	if err != nil {
		return none, codeFailure(err)
	}
	if len(all) == 0 {
		return none, tool.Fail(tool.CodeNoChange, "nothing would change")
	}
	work, err := l.permitted(ctx, c.Ask, p, all)
	if err != nil {
		return none, err
	}
	if err := l.rewrite(ctx, c.SessionID, work); err != nil {
		return none, err
	}
	return l.renamed(ctx, p, in, work), nil
}

// permitted asks for each file beside the named one.
func (l linguist) permitted(ctx context.Context, ask asker, named workspace.Path, all []lsp.Rewrite) (work []renameFile, err error) {
	for _, r := range all {
		if _, inside := l.root.Rel(r.Path); !inside {
			return nil, tool.Fail(tool.CodeInvalidArguments, "the name is used outside of the workspace, in %s; nothing was renamed", r.Path)
		}
		p := named
		if r.Path != named.Abs() {
			name := l.named(r.Path)
			if err := ask(ctx, tool.Need{Permission: tool.Write, Target: name}); err != nil {
				return nil, err
			}
			if p, err = l.locate(ctx, ask, tool.Write, name); err != nil {
				return nil, err
			}
		}
		work = append(work, renameFile{r, p})
	}
	return work, nil
}

// rewrite changes all files, or none: if a file differs from the server's version or cannot be
// written, it reverts the earlier ones.
func (l linguist) rewrite(ctx context.Context, session string, work []renameFile) error {
	for i, w := range work {
		done, err := l.exchange(ctx, w.path, 0, []byte(w.Before), []byte(w.After))
		if err == nil {
			if _, seen := l.knownFiles.Get(session, w.path); seen {
				l.knownFiles.Record(session, done.State, w.After)
			}
			continue
		}
		for _, done := range work[:i] {
			if _, undo := l.exchange(context.WithoutCancel(ctx), done.path, 0, []byte(done.After), []byte(done.Before)); undo != nil {
				return tool.Fail(tool.CodeOf(err), "%v; and %s could not be put back: %v", err, done.path.Display(), undo)
			}
		}
		return tool.Fail(tool.CodeOf(err), "%v; nothing was renamed", err)
	}
	return nil
}

func (l linguist) renamed(ctx context.Context, p workspace.Path, in renameArgs, work []renameFile) tool.Result[renameMeta] {
	m := renameMeta{Path: p.Display(), Files: len(work)}
	var files []string
	var changes strings.Builder
	for _, w := range work {
		m.Places += w.Places
		m.Rows = append(m.Rows, fmt.Sprintf("%s: %s", w.path.Display(), plural.Of(w.Places, "place")))
		files = append(files, w.path.Display())
		side := func(text string) diff.Side { return diff.Side{Name: w.path.Display(), Text: text} }
		changes.WriteString(diff.Unified(side(w.Before), side(w.After)).Text)
	}
	m.Diff = shownDiff(changes.String())
	var others []string
	for _, w := range work {
		if w.path != p {
			others = append(others, w.Path)
		}
	}
	l.code.Wrote(ctx, p.Abs(), others)
	for _, w := range work {
		if w.path == p {
			m.Check = l.checked(ctx, p, w.Before, w.After)
		}
	}
	did := fmt.Sprintf("renamed %s to %s: %s in %s", in.Symbol, in.NewName, plural.Of(m.Places, "place"), plural.Of(len(work), "file"))
	out := did + "\n" + strings.Join(m.Rows[:min(len(m.Rows), codeShown)], "\n")
	if m.Check != "" {
		out += "\n" + m.Check
	}
	return tool.Result[renameMeta]{Title: did, Metadata: m, Output: out, Changed: files}
}
