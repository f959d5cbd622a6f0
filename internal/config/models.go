package config

import (
	"fmt"
	"strings"
)

// Model describes a model; it replaces the built-in data.
type Model struct {
	Context int `json:"context,omitempty"` // tokens for a request with its response
	Output  int `json:"output,omitempty"`  // maximum tokens in a response, also the limit in requests
	// Vision and Tools enable images and native tool calls; if nil, the built-in table or the
	// server decides.
	Vision *bool `json:"vision,omitempty"`
	Tools  *bool `json:"tools,omitempty"`
	Price  Price `json:"price,omitempty"`
}

// Price is in USD per million tokens. A missing value is unknown; 0 is free.
type Price struct {
	Input      *float64 `json:"input,omitempty"`
	Output     *float64 `json:"output,omitempty"`
	CacheRead  *float64 `json:"cache_read,omitempty"`
	CacheWrite *float64 `json:"cache_write,omitempty"`
}

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
