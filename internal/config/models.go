package config

import (
	"fmt"
	"strings"
)

// Model is what the user knows of a model; it takes the place of all that adze knows of it.
type Model struct {
	Context int `json:"context,omitempty"` // tokens that fit into a request with its answer
	Output  int `json:"output,omitempty"`  // tokens of the longest answer; requests ask for no more
	// Vision and Tools say whether it is sent pictures, and tools in its own format; if nil, the
	// table or its server says so.
	Vision *bool `json:"vision,omitempty"`
	Tools  *bool `json:"tools,omitempty"`
	Price  Price `json:"price,omitempty"`
}

// Price is USD per million tokens. What is left out is not known; 0 is free.
type Price struct {
	Input      *float64 `json:"input,omitempty"`
	Output     *float64 `json:"output,omitempty"`
	CacheRead  *float64 `json:"cache_read,omitempty"`
	CacheWrite *float64 `json:"cache_write,omitempty"`
}

// checkModels finds names and numbers that make no sense.
func (c Config) checkModels(path string) error {
	for name, m := range c.Models {
		if provider, rest, ok := strings.Cut(name, "/"); !ok || provider == "" || rest == "" {
			return &Error{Path: path, Message: fmt.Sprintf("models.%q is not provider/name", name), Hint: `such as "provider/name", or "provider/*" for all of them`}
		}
		if m.Context < 0 || m.Output < 0 {
			return &Error{Path: path, Message: fmt.Sprintf("models.%q has fewer than no tokens", name), Hint: "give a number above 0, or leave it out"}
		}
		for _, price := range []*float64{m.Price.Input, m.Price.Output, m.Price.CacheRead, m.Price.CacheWrite} {
			if price != nil && *price < 0 {
				return &Error{Path: path, Message: fmt.Sprintf("models.%q has a price below 0", name), Hint: "give USD per million tokens; 0 is free"}
			}
		}
	}
	return nil
}
