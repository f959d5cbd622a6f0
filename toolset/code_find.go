package toolset

import (
	"context"
	"fmt"
	"strings"

	"adze/internal/editors/lsp"
	"adze/tool"
)

type spotArgs struct {
	Path   string `json:"path" doc:"file where the name stands"`
	Line   int    `json:"line" min:"1" doc:"its line, from 1"`
	Symbol string `json:"symbol" doc:"the name, as it stands on that line"`
}

func (in spotArgs) needs() []tool.Need {
	return []tool.Need{{Permission: tool.Read, Target: in.Path}}
}

// spotAliases returns other names for a spot.
func spotAliases() map[string]string {
	return pathAliases(map[string]string{"name": "symbol", "identifier": "symbol", "word": "symbol", "line_number": "line", "lineNumber": "line", "row": "line"})
}

func definition(l linguist) tool.Tool {
	return tool.Define("definition", tool.Config[spotArgs, codeMeta]{
		Description: describe("definition"),
		Permissions: tool.Requires(tool.Read),
		Tags:        []string{"code", "symbol", "goto", "declaration"},
		Aliases:     []string{"go_to_definition", "goto_definition", "find_definition", "lsp_definition"},
		Compat:      tool.Compat{Args: spotAliases()},
		Safety:      tool.Safety{Safe: true},
		Redact:      tool.Expose("path", "line", "found"),
		Needs:       spotArgs.needs,
		Run: func(ctx context.Context, c tool.Context[codeMeta], in spotArgs) (codeResult, error) {
			return l.places(ctx, c, in, "definition", l.code.Definition)
		},
		View: viewCode, Heading: headSpot("definition"),
	})
}

func references(l linguist) tool.Tool {
	return tool.Define("references", tool.Config[spotArgs, codeMeta]{
		Description: describe("references"),
		Permissions: tool.Requires(tool.Read),
		Tags:        []string{"code", "symbol", "usage", "callers"},
		Aliases:     []string{"find_references", "find_usages", "lsp_references", "usages"},
		Compat:      tool.Compat{Args: spotAliases()},
		Safety:      tool.Safety{Safe: true},
		Redact:      tool.Expose("path", "line", "found"),
		Needs:       spotArgs.needs,
		Run: func(ctx context.Context, c tool.Context[codeMeta], in spotArgs) (codeResult, error) {
			return l.places(ctx, c, in, "place", l.code.References)
		},
		View: viewCode, Heading: headSpot("references"),
	})
}

// places asks about a name and lists the resulting places.
func (l linguist) places(ctx context.Context, c tool.Context[codeMeta], in spotArgs, noun string, ask func(context.Context, lsp.Spot) ([]lsp.Place, error)) (codeResult, error) {
	p, err := l.source(ctx, c.Ask, in.Path)
	if err != nil {
		return codeResult{}, err
	}
	all, err := ask(ctx, lsp.Spot{Path: p.Abs(), Line: in.Line, Name: in.Symbol})
	if err != nil {
		return codeResult{}, codeFailure(err)
	}
	held := l.held()
	rows := make([]string, len(all))
	for i, at := range all {
		rows[i] = l.row(held, at)
	}
	return codeAnswer(p.Display(), rows, noun), nil
}

type symbolsArgs struct {
	Path  string `json:"path" doc:"a source file: its outline; with query any file of the project"`
	Query string `json:"query,omitempty" doc:"find names like this in the whole project"`
}

func symbols(l linguist) tool.Tool {
	return tool.Define("symbols", tool.Config[symbolsArgs, codeMeta]{
		Description: describe("symbols"),
		Permissions: tool.Requires(tool.Read),
		Tags:        []string{"code", "outline", "functions", "classes", "structure"},
		Aliases:     []string{"document_symbols", "workspace_symbols", "outline", "list_symbols", "list_code_definition_names"},
		Compat:      tool.Compat{Args: pathAliases(map[string]string{"name": "query", "symbol": "query"})},
		Safety:      tool.Safety{Safe: true},
		Redact:      tool.Expose("path", "found"),
		Needs: func(in symbolsArgs) []tool.Need {
			needs := []tool.Need{{Permission: tool.Read, Target: in.Path}}
			if in.Query != "" {
				needs = append(needs, tool.Need{Permission: tool.Read, Target: "."})
			}
			return needs
		},
		Run:  l.symbols,
		View: viewCode, Heading: func(in symbolsArgs, m codeMeta) tool.Heading { return headCode("symbols", in.Path, m) },
	})
}

func (l linguist) symbols(ctx context.Context, c tool.Context[codeMeta], in symbolsArgs) (codeResult, error) {
	p, err := l.source(ctx, c.Ask, in.Path)
	if err != nil {
		return codeResult{}, err
	}
	var all []lsp.Symbol
	if in.Query == "" {
		all, err = l.code.Outline(ctx, p.Abs())
	} else {
		all, err = l.code.Find(ctx, p.Abs(), in.Query)
	}
	if err != nil {
		return codeResult{}, codeFailure(err)
	}
	var rows []string
	for _, s := range all {
		row := fmt.Sprintf("%s%d: %s %s", strings.Repeat("  ", s.Depth), s.Line, s.Kind, s.Name)
		if in.Query != "" {
			row = fmt.Sprintf("%s:%d: %s %s", l.named(s.Path), s.Line, s.Kind, s.Name)
			if s.Container != "" {
				row += " (in " + s.Container + ")"
			}
		}
		rows = append(rows, row)
	}
	return codeAnswer(p.Display(), rows, "symbol"), nil
}
