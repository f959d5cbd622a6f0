package toolset

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"adze/internal/text/plural"
	"adze/internal/web/websearch"
	"adze/tool"
)

// WebSearch is a search engine. It is implemented by *websearch.Engine.
type WebSearch interface {
	// Name is the user's name for it, Address the scheme, host and port of its connection.
	Name() string
	Address() string
	Search(ctx context.Context, query string, limit int) ([]websearch.Result, error)
}

const usualResults = 8

type websearchArgs struct {
	Query string `json:"query" doc:"words; site:example.com keeps to one site"`
	Limit int    `json:"limit,omitempty" min:"1" max:"20" doc:"results; default 8"`
}

type websearchMeta struct {
	Query   string             `json:"query"`
	Engine  string             `json:"engine,omitempty"`
	Count   int                `json:"count"`
	Results []websearchFinding `json:"results,omitempty"`
}

type websearchFinding struct {
	Title string `json:"title"`
	URL   string `json:"url"`
}

func webSearch(engine WebSearch) tool.Tool {
	w := websearcher{engine}
	return tool.Define("websearch", tool.Config[websearchArgs, websearchMeta]{
		Description: describe("websearch"),
		Permissions: w.permissions(),
		Unoffered:   engine == nil,
		Tags:        []string{"web", "search", "internet", "documentation", "find", "news"},
		Aliases:     []string{"web_search", "search_web", "google_search", "google_web_search", "internet_search", "brave_web_search", "tavily_search"},
		Compat: tool.Compat{
			Args: map[string]string{
				"q": "query", "search_query": "query", "search_term": "query", "keywords": "query",
				"max_results": "limit", "num_results": "limit", "count": "limit", "top_k": "limit",
			},
			Ignored: ignored(nil),
		},
		Safety: tool.Safety{ThreatLevel: "medium"},
		Redact: tool.Expose("query", "limit", "engine", "count"),
		Needs:  w.needs,
		Check: func(_ context.Context, _ tool.Context[websearchMeta], in websearchArgs) error {
			return websearch.Check(in.Query)
		},
		Preview: func(_ context.Context, in websearchArgs) (websearchMeta, error) {
			return websearchMeta{Query: in.Query}, nil
		},
		Run:  w.run,
		View: viewWebsearch, Heading: headSearch,
	})
}

type websearcher struct{ engine WebSearch }

func (w websearcher) permissions() tool.Permissions {
	if w.engine == nil {
		return tool.Permissions{} // it can only report that there is none
	}
	return tool.Requires(tool.Network)
}

func (w websearcher) needs(in websearchArgs) []tool.Need {
	if w.engine == nil {
		return nil
	}
	return []tool.Need{{Permission: tool.Network, Target: w.engine.Address(), Sends: in.Query}}
}

func (w websearcher) run(ctx context.Context, c tool.Context[websearchMeta], in websearchArgs) (tool.Result[websearchMeta], error) {
	meta := websearchMeta{Query: oneLine(in.Query, websearch.MaxQuery)}
	result := tool.Result[websearchMeta]{Title: oneLine(in.Query, 80), Metadata: meta}
	if w.engine == nil {
		return result, tool.Fail(tool.CodeFailed, "no search engine is configured, so the web cannot be searched; "+
			"fetch a page that you know with webfetch, or ask the person to set search.engine in the configuration")
	}
	c.Metadata(result.Title, meta)
	found, err := w.engine.Search(ctx, in.Query, cmp.Or(in.Limit, usualResults))
	if err != nil {
		return result, err
	}
	meta.Engine, meta.Count = w.engine.Name(), len(found)
	for _, r := range found {
		meta.Results = append(meta.Results, websearchFinding{r.Title, r.URL})
	}
	result.Metadata = meta
	result.Title = fmt.Sprintf("%s · %s", result.Title, plural.Of(len(found), "result"))
	result.Output = websearchOutput(found)
	return result, nil
}

func websearchOutput(found []websearch.Result) string {
	if len(found) == 0 {
		return "nothing was found; try fewer or other words"
	}
	lines := []string{untrusted}
	for i, r := range found {
		lines = append(lines, "", fmt.Sprintf("%d. %s", i+1, cmp.Or(r.Title, "(no title)")), "   "+r.URL)
		if text := strings.Join(notBlank(r.Date, r.Excerpt), " · "); text != "" {
			lines = append(lines, "   "+text)
		}
	}
	return strings.Join(lines, "\n")
}

func viewWebsearch(m websearchMeta) []tool.Block {
	if len(m.Results) == 0 {
		return tool.Text(m.Query)
	}
	var items []tool.Item
	for _, r := range m.Results {
		items = append(items, tool.Item{Text: r.Title, Note: r.URL})
	}
	return []tool.Block{{Kind: tool.ListBlock, Items: items}}
}
