package config

import "fmt"

// Provider overrides where a provider is and which variable holds its key, or describes a server
// that adze does not know by name. The key itself never stands in a file.
type Provider struct {
	BaseURL string `json:"base_url,omitempty"`
	KeyEnv  string `json:"key_env,omitempty"`
	// API is the format of a server that speaks OpenAI's: chat (the default) or responses.
	API string `json:"api,omitempty"`
	// Effort is how hard the provider's models think, in its own words: low, medium, high; if empty,
	// its default.
	Effort string `json:"effort,omitempty"`
	// Profile is how adze speaks to the models there: local (a small prompt, few tools) or full; if
	// empty, what the kind of server suggests.
	Profile string `json:"profile,omitempty"`
	// MaxContext bounds the tokens that adze lets a server keep in memory for a request and its
	// answer.
	MaxContext int `json:"max_context,omitempty"`
}

// checkProviders finds values of single providers that make no sense.
func (c Config) checkProviders(path string) error {
	for name, p := range c.Providers {
		bad := func(field, hint string) error {
			return &Error{Path: path, Message: fmt.Sprintf("providers.%s.%s makes no sense", name, field), Hint: hint}
		}
		if p.Profile != "" && p.Profile != "local" && p.Profile != "full" {
			return bad("profile", `want "local" or "full"`)
		}
		if p.MaxContext < 0 {
			return bad("max_context", "give a number of tokens above 0, or leave it out")
		}
	}
	return nil
}
