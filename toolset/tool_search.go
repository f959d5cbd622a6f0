package toolset

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"adze/tool"
)

// Finder searches all tools in the session, also those not in requests. Contract: the best come
// first, at most limit; nothing is run; it is safe for concurrent use.
type Finder interface {
	Find(ctx context.Context, query string, limit int) Finding
}

// Finding is a Finder's result.
type Finding struct {
	Tools    []ToolMatch
	Searched int // number of tools searched
}

// ToolMatch is one matching tool.
type ToolMatch struct {
	Name, Description string
	Offered           bool // already in requests
}

// foundLimit limits the tools that one search adds to requests; each costs its schema every time.
const foundLimit = 5

// in bytes; a longer query is a document, not a question
const maxToolQuery = 1000

type toolSearchArgs struct {
	Query string `json:"query" doc:"what must be done, and on what"`
}

type toolSearchMeta struct {
	Query    string   `json:"query"`
	Found    []string `json:"found"`
	Searched int      `json:"of"`
}

func toolSearch(f Finder) tool.Tool {
	return tool.Define("tool_search", tool.Config[toolSearchArgs, toolSearchMeta]{
		Description: describe("tool_search"),
		Permissions: tool.Requires(tool.Read),
		Tags:        []string{"tools", "catalogue", "discover"},
		Aliases:     []string{"search_tools", "find_tool", "find_tools"},
		Compat:      tool.Compat{Args: map[string]string{"q": "query", "task": "query", "name": "query"}},
		Safety:      tool.Safety{Safe: true},
		Redact:      tool.Expose("query", "found", "of"),
		Needs:       func(toolSearchArgs) []tool.Need { return tool.StateNeed("the list of tools") },
		Run: func(ctx context.Context, _ tool.Context[toolSearchMeta], in toolSearchArgs) (tool.Result[toolSearchMeta], error) {
			return searchTools(ctx, f, strings.TrimSpace(in.Query))
		},
		Heading: func(in toolSearchArgs, m toolSearchMeta) tool.Heading {
			return tool.Heading{Verb: "find a tool", Object: in.Query, Shape: tool.OneRow}
		},
		View: func(m toolSearchMeta) []tool.Block { return tool.List(m.Found) },
	})
}

func searchTools(ctx context.Context, f Finder, query string) (tool.Result[toolSearchMeta], error) {
	if f == nil {
		return tool.Result[toolSearchMeta]{}, tool.Fail(tool.CodeNotFound, "there are no other tools; work with those in your list")
	}
	if query == "" {
		return tool.Result[toolSearchMeta]{}, tool.Fail(tool.CodeInvalidArguments, "the query is empty; say what must be done and on what")
	}
	if len(query) > maxToolQuery {
		return tool.Result[toolSearchMeta]{}, tool.Fail(tool.CodeTooLarge, "the query is %d bytes long (at most %d); say it in one sentence", len(query), maxToolQuery)
	}
	found := f.Find(ctx, query, foundLimit)
	if err := ctx.Err(); err != nil {
		return tool.Result[toolSearchMeta]{}, err
	}
	meta := toolSearchMeta{Query: query, Found: []string{}, Searched: found.Searched}
	for _, t := range found.Tools {
		meta.Found = append(meta.Found, t.Name)
	}
	title := fmt.Sprintf("%d of %d tools for: %s", len(meta.Found), found.Searched, query)
	return tool.Result[toolSearchMeta]{Title: title, Metadata: meta, Output: listFound(found)}, nil
}

func listFound(found Finding) string {
	if len(found.Tools) == 0 {
		return fmt.Sprintf("none of %d tools fits; say it in other words, or do it with the tools in your list", found.Searched)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d of %d tools found, the best first; call them from your next request on:\n", len(found.Tools), found.Searched)
	for _, t := range found.Tools {
		mark := ""
		if t.Offered {
			mark = " (already in your list)"
		}
		line, _, _ := strings.Cut(t.Description, "\n")
		fmt.Fprintf(&b, "%s%s: %s\n", t.Name, mark, line)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// FoundBy returns the tools found by a tool_search outcome; nil for other outcomes.
func FoundBy(o tool.Outcome) []string {
	var m toolSearchMeta
	if o.Tool != "tool_search" || o.Status != tool.Completed || json.Unmarshal(o.Metadata, &m) != nil {
		return nil
	}
	return m.Found
}
