// Package share provides the resources and prompts of MCP servers: the model reads resources with a
// tool, a user names one in a prompt as @server:uri, and sends a prompt as /server:name.
//
// The one rule: a resource reaches the model only through a call with the normal permission check,
// limits and log; a server's prompt is sent only if the user named it.
//
// Start reading at Catalog; list.go reads and stores the servers' lists, resource.go is the tool,
// prompt.go builds a prompt, mention.go finds resources in a user's text.
//
// Known limits: an image in a server's prompt is named and not sent. URI templates are listed and
// not expanded.
package share

import (
	"slices"
	"sync"
	"time"

	"adze/internal/mcp"
)

// An Entry is a resource or a template.
type Entry struct {
	URI      string `json:"uri"`
	Name     string `json:"name,omitempty"`
	Note     string `json:"note,omitempty"`
	Media    string `json:"media,omitempty"`
	Bytes    int64  `json:"bytes,omitempty"`
	Template bool   `json:"template,omitempty"`
}

// An Argument is a prompt's argument.
type Argument struct {
	Name     string `json:"name"`
	Note     string `json:"note,omitempty"`
	Required bool   `json:"needed,omitempty"`
}

// A Prompt is offered by a server.
type Prompt struct {
	Server    string     `json:"-"`
	Name      string     `json:"name"`
	Note      string     `json:"note,omitempty"`
	Arguments []Argument `json:"arguments,omitempty"`
}

type stock struct {
	Resources []Entry  `json:"resources,omitempty"`
	Prompts   []Prompt `json:"prompts,omitempty"`
	Truncated bool     `json:"more,omitempty"` // some are not stored
}

// A Catalog holds the resources and prompts of a pool's servers. It is safe for concurrent use.
type Catalog struct {
	pool *mcp.Pool
	file string // storage between runs, or ""
	mask func(string) string

	mu     sync.Mutex
	read   bool
	stocks map[string]stock
	asked  map[string]time.Time // time of each server's last list
}

// New returns a Catalog. It starts no server and reads nothing yet. mask hides secrets in servers'
// texts and may be nil.
func New(pool *mcp.Pool, file string, mask func(string) string) *Catalog {
	if mask == nil {
		mask = func(s string) string { return s }
	}
	return &Catalog{pool: pool, file: file, mask: mask, asked: map[string]time.Time{}}
}

// known returns the stored lists. The caller holds the lock.
func (s *Catalog) known() map[string]stock {
	if s.read {
		return s.stocks
	}
	s.read = true
	if !mcp.LoadState(s.file, &s.stocks) || s.stocks == nil {
		s.stocks = map[string]stock{} // read again from the servers
	}
	return s.stocks
}

// keep stores a server's lists unless newer ones are known.
func (s *Catalog) keep(server string, asked time.Time, has stock) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if asked.Before(s.asked[server]) {
		return
	}
	s.asked[server] = asked
	all := s.known()
	all[server] = has
	if s.file != "" {
		mcp.KeepState(s.file, all)
	}
}

func (s *Catalog) stockOf(server string) (stock, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	has, ok := s.known()[server]
	return has, ok
}

// Prompts returns the known prompts in the servers' order.
func (s *Catalog) Prompts() (out []Prompt) {
	for _, name := range s.pool.Names() {
		has, _ := s.stockOf(name)
		for _, p := range has.Prompts {
			p.Server = name
			out = append(out, p)
		}
	}
	return out
}

// Mentions returns the known resources as server:uri, for use after an @.
func (s *Catalog) Mentions() (out []string) {
	for _, name := range s.pool.Names() {
		has, _ := s.stockOf(name)
		for _, r := range has.Resources {
			if !r.Template && plain(r.URI) {
				out = append(out, name+":"+r.URI)
			}
		}
	}
	return out
}

// Any reports whether a server is known to have resources. It starts none.
func (s *Catalog) Any() bool {
	return slices.ContainsFunc(s.pool.Names(), func(name string) bool {
		_, resources := s.pool.Shares(name)
		return resources
	})
}

// Counts counts a server's known resources and prompts.
func (s *Catalog) Counts(server string) (resources, prompts int) {
	has, _ := s.stockOf(server)
	return len(has.Resources), len(has.Prompts)
}
