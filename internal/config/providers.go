package config

import (
	"fmt"
	"slices"
)

// Provider overrides a provider's URL and key variable, or describes a server unknown to adze. The
// file never contains the key itself.
type Provider struct {
	BaseURL string `json:"base_url,omitempty"`
	KeyEnv  string `json:"key_env,omitempty"`
	// API is the format of the server: chat (the default), responses or messages; at Bedrock also
	// converse.
	API string `json:"api,omitempty"`
	// Cloud is bedrock, vertex or azure for a further name of that cloud, such as one for another
	// region.
	Cloud      string `json:"cloud,omitempty"`
	Region     string `json:"region,omitempty"`      // of Bedrock or Vertex
	Project    string `json:"project,omitempty"`     // of Vertex
	AWSProfile string `json:"aws_profile,omitempty"` // of Bedrock; if empty, AWS_PROFILE
	APIVersion string `json:"api_version,omitempty"` // of an Azure deployment's older address
	// Headers and Query are added to each request. In their values, and in Proxy, ${NAME} is a
	// variable.
	Headers map[string]string `json:"headers,omitempty"`
	Query   map[string]string `json:"query,omitempty"`
	// KeyCommand is a program with its arguments that prints the key. Its output is used for KeyTime,
	// by default 5 minutes.
	KeyCommand []string `json:"key_command,omitempty"`
	KeyTime    Duration `json:"key_time,omitempty"`
	CAFile     string   `json:"ca_file,omitempty"`     // PEM, beside the system's authorities
	ClientCert string   `json:"client_cert,omitempty"` // PEM
	ClientKey  string   `json:"client_key,omitempty"`  // PEM
	Proxy      string   `json:"proxy,omitempty"`       // if empty, HTTPS_PROXY
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
		if !slices.Contains([]string{"", "bedrock", "vertex", "azure"}, p.Cloud) {
			return bad("cloud", `want "bedrock", "vertex" or "azure"`)
		}
		if (p.ClientCert == "") != (p.ClientKey == "") {
			return bad("client_cert", "give client_cert and client_key, or neither")
		}
		if p.MaxContext < 0 {
			return bad("max_context", "give a number of tokens above 0, or leave it out")
		}
	}
	return nil
}
