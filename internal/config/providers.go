package config

import "fmt"

// Provider overrides a provider's URL and key variable, or describes a server unknown to adze. The
// file never contains the key itself.
type Provider struct {
	BaseURL string `json:"base_url,omitempty"`
	KeyEnv  string `json:"key_env,omitempty"`
	// API is the format for an OpenAI-compatible server: chat (the default) or responses.
	API string `json:"api,omitempty"`
	// Effort is the reasoning effort in the provider's own terms: low, medium, high; if empty, its
	// default.
	Effort string `json:"effort,omitempty"`
	// Profile selects local (a small prompt, few tools) or full; if empty, the kind of server
	// decides.
	Profile string `json:"profile,omitempty"`
	// MaxContext bounds the tokens that a server may hold in memory for a request and its response.
	MaxContext int `json:"max_context,omitempty"`
}

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
