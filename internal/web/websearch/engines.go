package websearch

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
)

// kind holds the differences between engines.
type kind struct {
	name     string
	home     string // the company's URL; empty if users run their own server
	needsKey bool
	hint     string // what to do if the engine refuses
	// request builds a search request without the key, which authorise adds.
	request   func(ctx context.Context, base *url.URL, query string, limit int) (*http.Request, error)
	authorise func(h http.Header, key string)
	read      func(raw []byte) ([]Result, error)
}

// Engines returns the names for configurations.
func Engines() []string {
	var names []string
	for _, k := range kinds() {
		names = append(names, k.name)
	}
	return names
}

func kindOf(name string) (kind, bool) {
	for _, k := range kinds() {
		if k.name == name {
			return k, true
		}
	}
	return kind{}, false
}

// kinds returns the table of engines; the fields follow their published APIs.
func kinds() []kind {
	return []kind{
		{
			name: "searxng", hint: "a SearXNG answers programs only where its settings list json under search.formats",
			request: func(ctx context.Context, base *url.URL, query string, _ int) (*http.Request, error) {
				return get(ctx, base.JoinPath("search"), url.Values{"q": {query}, "format": {"json"}})
			},
			authorise: bearer, read: readList,
		},
		{
			name: "brave", home: "https://api.search.brave.com/res/v1", needsKey: true,
			request: func(ctx context.Context, base *url.URL, query string, limit int) (*http.Request, error) {
				return get(ctx, base.JoinPath("web", "search"), url.Values{"q": {query}, "count": {strconv.Itoa(limit)}})
			},
			authorise: func(h http.Header, key string) { h.Set("X-Subscription-Token", key) },
			read:      readBrave,
		},
		{
			name: "tavily", home: "https://api.tavily.com", needsKey: true,
			request: func(ctx context.Context, base *url.URL, query string, limit int) (*http.Request, error) {
				body, err := json.Marshal(map[string]any{"query": query, "max_results": limit})
				if err != nil {
					return nil, err
				}
				req, err := http.NewRequestWithContext(ctx, http.MethodPost, base.JoinPath("search").String(), bytes.NewReader(body))
				if err == nil {
					req.Header.Set("Content-Type", "application/json")
				}
				return req, err
			},
			authorise: bearer, read: readList,
		},
	}
}

func get(ctx context.Context, at *url.URL, query url.Values) (*http.Request, error) {
	at.RawQuery = query.Encode()
	return http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
}

func bearer(h http.Header, key string) { h.Set("Authorization", "Bearer "+key) }

var errNoList = errors.New("no list of results")

// readList parses responses from SearXNG and Tavily, which differ in the date field.
func readList(raw []byte) ([]Result, error) {
	var answer struct {
		Results *[]struct {
			Title, URL, Content string
			Published           string `json:"publishedDate"`
			PublishedDate       string `json:"published_date"`
		}
	}
	if err := json.Unmarshal(raw, &answer); err != nil || answer.Results == nil {
		return nil, errNoList
	}
	var out []Result
	for _, r := range *answer.Results {
		out = append(out, Result{r.Title, r.URL, r.Content, cmp.Or(r.Published, r.PublishedDate)})
	}
	return out, nil
}

func readBrave(raw []byte) ([]Result, error) {
	var answer struct {
		Type string
		Web  *struct {
			Results []struct{ Title, URL, Description, Age string }
		}
	}
	err := json.Unmarshal(raw, &answer)
	switch {
	case err != nil, answer.Type != "search" && answer.Web == nil:
		return nil, errNoList
	case answer.Web == nil: // no results
		return nil, nil
	}
	var out []Result
	for _, r := range answer.Web.Results {
		out = append(out, Result{r.Title, r.URL, r.Description, r.Age})
	}
	return out, nil
}
