package config

import "fmt"

// Search is the search engine that the tool websearch asks; without an engine there is no such
// tool.
type Search struct {
	Engine  string `json:"engine,omitempty"`   // searxng, brave or tavily
	BaseURL string `json:"base_url,omitempty"` // if empty, the company's server; a SearXNG has its own
	KeyEnv  string `json:"key_env,omitempty" retired:"BRAVE_API_KEY or TAVILY_API_KEY holds the key"`
}

// Keys are the variables in which the key is looked for.
func (s Search) Keys() []string {
	if s.KeyEnv != "" {
		return []string{s.KeyEnv}
	}
	return searchKeys()[s.Engine]
}

// searchKeys are the variables that people have keys of engines in.
func searchKeys() map[string][]string {
	return map[string][]string{"searxng": nil, "brave": {"BRAVE_API_KEY", "BRAVE_SEARCH_API_KEY"}, "tavily": {"TAVILY_API_KEY"}}
}

// SearchKeys are those of all engines: no command sees one, whichever is configured.
func SearchKeys() []string { return append(searchKeys()["brave"], searchKeys()["tavily"]...) }

// checkSearch finds an engine that there is not.
func (c Config) checkSearch(path string) error {
	s := c.Search
	if s.Engine == "" && s != (Search{}) {
		return &Error{Path: path, Message: "search.engine is missing", Hint: `name one: "searxng", "brave" or "tavily"`}
	}
	if _, ok := searchKeys()[s.Engine]; !ok && s.Engine != "" {
		return &Error{Path: path, Message: fmt.Sprintf("search.engine is %q", s.Engine), Hint: `want "searxng", "brave" or "tavily"`}
	}
	if s.Engine == "searxng" && s.BaseURL == "" {
		return &Error{Path: path, Message: "search.base_url is missing", Hint: `say where your SearXNG is: "base_url": "http://localhost:8080"`}
	}
	return nil
}
