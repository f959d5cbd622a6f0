package config

import "fmt"

// Search configures the search engine for the tool websearch; without an engine the tool is not
// offered.
type Search struct {
	Engine  string `json:"engine,omitempty"`   // searxng, brave or tavily
	BaseURL string `json:"base_url,omitempty"` // if empty, the company's server; required for SearXNG
	KeyEnv  string `json:"key_env,omitempty" retired:"BRAVE_API_KEY or TAVILY_API_KEY holds the key"`
}

// Keys returns the variables that may hold the key.
func (s Search) Keys() []string {
	if s.KeyEnv != "" {
		return []string{s.KeyEnv}
	}
	return searchKeys()[s.Engine]
}

// searchKeys lists the variables in common use for each engine's key.
func searchKeys() map[string][]string {
	return map[string][]string{"searxng": nil, "brave": {"BRAVE_API_KEY", "BRAVE_SEARCH_API_KEY"}, "tavily": {"TAVILY_API_KEY"}}
}

// SearchKeys returns the variables for all engines, hidden from commands whichever engine is
// configured.
func SearchKeys() []string { return append(searchKeys()["brave"], searchKeys()["tavily"]...) }

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
