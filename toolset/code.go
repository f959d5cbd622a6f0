package toolset

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/editors/lsp"
	"adze/internal/files/workspace"
	"adze/internal/text/plural"
	"adze/tool"
)

const codeShown = 100

type linguist struct{ files }

// linguists returns the language server tools, if there are servers.
func (f files) linguists() []tool.Tool {
	if f.code == nil {
		return nil
	}
	l := linguist{f}
	return []tool.Tool{diagnostics(l), definition(l), references(l), symbols(l), rename(l)}
}

// checked returns new errors by the file's language server since a change, or "".
func (f files) checked(ctx context.Context, p workspace.Path, before, after string) string {
	if f.code == nil || after == "" || // unknown for a large file changed in place
		p.Outside() || !f.code.Speaks(p.Abs()) {
		return ""
	}
	found, ok := f.code.Changed(ctx, p.Abs(), before, after)
	if !ok {
		return ""
	}
	return found.Text(f.named)
}

func (f files) named(abs string) string {
	if rel, inside := f.root.Rel(abs); inside {
		return rel
	}
	return abs
}

// codeFailure adds the code to a language server's error.
func codeFailure(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, lsp.ErrNone):
		return tool.Fail(tool.CodeInvalidArguments, "%v; use grep and read", err)
	case errors.As(err, new(*lsp.NotThereError)):
		return tool.Fail(tool.CodeNoMatch, "%v; give the line where it stands, as read shows it", err)
	}
	return tool.Fail(tool.CodeIO, "%v", err)
}

type diagnosticsArgs struct {
	Path string `json:"path" doc:"source file"`
}

type codeMeta struct {
	Path  string   `json:"path"`
	Found int      `json:"found"`
	Rows  []string `json:"rows,omitempty"`
}

type codeResult = tool.Result[codeMeta]

func diagnostics(l linguist) tool.Tool {
	return tool.Define("diagnostics", tool.Config[diagnosticsArgs, codeMeta]{
		Description: describe("diagnostics"),
		Permissions: tool.Requires(tool.Read),
		Tags:        []string{"code", "lint", "errors", "compile", "check", "types"},
		Aliases:     []string{"get_diagnostics", "lsp_diagnostics", "problems", "get_errors"},
		Compat:      tool.Compat{Args: pathAliases(nil)},
		Safety:      tool.Safety{Safe: true},
		Redact:      tool.Expose("path", "found"),
		Needs:       func(in diagnosticsArgs) []tool.Need { return []tool.Need{{Permission: tool.Read, Target: in.Path}} },
		Run: func(ctx context.Context, c tool.Context[codeMeta], in diagnosticsArgs) (codeResult, error) {
			p, err := l.source(ctx, c.Ask, in.Path)
			if err != nil {
				return codeResult{}, err
			}
			all, err := l.code.Problems(ctx, p.Abs())
			if err != nil {
				return codeResult{}, codeFailure(err)
			}
			rows := make([]string, len(all))
			for i, problem := range all {
				rows[i] = p.Display() + ":" + problem.String()
			}
			return codeAnswer(p.Display(), rows, "problem"), nil
		},
		View: viewCode, Heading: func(in diagnosticsArgs, m codeMeta) tool.Heading { return headCode("problems", in.Path, m) },
	})
}

func viewCode(m codeMeta) []tool.Block { return tool.List(m.Rows) }

// source resolves a file that a server may be asked about.
func (l linguist) source(ctx context.Context, ask asker, name string) (workspace.Path, error) {
	p, err := l.locate(ctx, ask, tool.Read, name)
	if err != nil {
		return p, err
	}
	if !p.Exists() {
		return p, l.missing(p)
	}
	return p, nil
}

// codeAnswer lists the rows that fit, with their total.
func codeAnswer(path string, rows []string, noun string) codeResult {
	total := plural.Of(len(rows), noun)
	if len(rows) == 0 {
		total = "no " + noun + "s"
	}
	shown := rows[:min(len(rows), codeShown)]
	out := total
	if len(rows) > 0 {
		out = strings.Join(shown, "\n") + "\n" + total
	}
	if left := len(rows) - len(shown); left > 0 {
		out += fmt.Sprintf(", %d not shown: grep for a narrower name", left)
	}
	return codeResult{Title: path + ": " + total, Metadata: codeMeta{Path: path, Found: len(rows), Rows: slices.Clone(shown)}, Output: out}
}

// row formats a place as grep does. It includes the line only if the model may read the file
// unasked.
func (l linguist) row(held func(dir, name string) bool, at lsp.Place) string {
	_, inside := l.root.Rel(at.Path)
	if !inside || at.Text == "" || held != nil && held(filepath.Dir(at.Path)+"/", filepath.Base(at.Path)) {
		return fmt.Sprintf("%s:%d", l.named(at.Path), at.Line)
	}
	return fmt.Sprintf("%s:%d: %s", l.named(at.Path), at.Line, at.Text)
}

// held returns a filter for files that must not be read unasked; nil if all may.
func (l linguist) held() func(dir, name string) bool {
	if l.withhold == nil {
		return nil
	}
	return l.withhold(l.root.Dir())
}
