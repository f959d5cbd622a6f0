package models

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Listing is the output of "adze models".
type Listing struct {
	Default   *Selection       `json:"default"`
	Problem   string           `json:"problem,omitempty"` // why there is no default
	Providers []ListedProvider `json:"providers"`
}

// Selection is the model that a run would use, and the reason.
type Selection struct {
	Model  string `json:"model"`
	Origin string `json:"origin"`
}

// ListedProvider is one provider with its address, state and models.
type ListedProvider struct {
	Provider string        `json:"provider"`
	Endpoint string        `json:"endpoint"`
	KeyEnv   string        `json:"key_env,omitempty"`
	Key      bool          `json:"key"`    // a key is set
	Usable   *bool         `json:"usable"` // null: not checked
	Reason   string        `json:"why"`
	Models   []ListedModel `json:"models"`
	// WantsKey: the server answers, but refuses requests without a valid key.
	WantsKey bool `json:"-"`
}

// ListedModel describes one model.
type ListedModel struct {
	Model     string   `json:"model"`
	Context   int      `json:"context,omitempty"` // in tokens, with the answer
	Running   int      `json:"running_context,omitempty"`
	Trained   int      `json:"trained_context,omitempty"`
	Output    int      `json:"output,omitempty"`
	Size      int64    `json:"size_bytes,omitempty"`
	Loaded    bool     `json:"loaded,omitempty"`
	Tools     *bool    `json:"tools"` // null: unknown
	Vision    *bool    `json:"vision"`
	Thinking  *bool    `json:"thinking"`
	Documents *bool    `json:"documents"`
	Input     *float64 `json:"input_usd"` // per million tokens
	Answer    *float64 `json:"output_usd"`
}

// Only keeps the models whose provider/name contains the text, and the providers that have one or
// match themselves.
func (l Listing) Only(text string) Listing {
	text = strings.ToLower(text)
	kept := []ListedProvider{} // not nil: scripts expect a list
	for _, p := range l.Providers {
		p.Models = slices.DeleteFunc(p.Models, func(m ListedModel) bool {
			return !strings.Contains(strings.ToLower(p.Provider+"/"+m.Model), text)
		})
		if len(p.Models) > 0 || strings.Contains(p.Provider, text) {
			kept = append(kept, p)
		}
	}
	l.Providers = kept
	return l
}

func (p ListedProvider) has(name string) bool {
	for _, m := range p.Models {
		if m.Model == name {
			return true
		}
	}
	return false
}

// String returns a line for the user, without unknown values.
func (m ListedModel) String() string {
	out := []string{m.Model}
	add := func(is bool, format string, args ...any) {
		if is {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	add(m.Size > 0, "%.1f GB", float64(m.Size)/1e9)
	add(m.Context > 0, "context %d", m.Context)
	add(m.Trained > 0 && m.Trained != m.Context, "up to %d", m.Trained)
	add(m.Output > 0, "output %d", m.Output)
	if m.Tools != nil {
		add(true, "%s", map[bool]string{true: "tools", false: "no tools"}[*m.Tools])
	}
	add(m.Vision != nil && *m.Vision, "vision")
	add(m.Documents != nil && *m.Documents, "documents")
	add(m.Thinking != nil && *m.Thinking, "thinking")
	add(m.Loaded && m.Running == 0, "loaded")
	add(m.Loaded && m.Running > 0, "loaded with %d", m.Running)
	if m.Input != nil && m.Answer != nil {
		add(true, "$%s in, $%s out a million", amount(*m.Input), amount(*m.Answer))
	}
	return strings.Join(out, " · ")
}

func amount(usd float64) string { return strconv.FormatFloat(usd, 'f', -1, 64) }
