// Package share makes what MCP servers share beside their tools of use: resources, which the model
// reads with one tool and a user names in a prompt as @server:uri, and prompts, which a user sends
// as /server:name.
//
// The one rule: a resource reaches the model through a call, behind the gate, clipped and written
// down as any other is; a prompt of a server is what a user asked for by its name.
//
// Start reading at Catalog; list.go asks servers what they have and keeps it, resource.go is the
// tool, prompt.go makes a prompt, mention.go finds resources in what a user writes.
//
// Known limits: a picture in a prompt of a server is named and not sent. Templates of addresses are
// listed and not filled in.
package share

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"adze/internal/mcp"
	"adze/internal/osfile/atomicfile"
)

// Entry is one resource, or a template of some.
type Entry struct {
	URI      string `json:"uri"`
	Name     string `json:"name,omitempty"`
	Note     string `json:"note,omitempty"`
	Media    string `json:"media,omitempty"`
	Bytes    int64  `json:"bytes,omitempty"`
	Template bool   `json:"template,omitempty"`
}

// Argument is one of a prompt's.
type Argument struct {
	Name   string `json:"name"`
	Note   string `json:"note,omitempty"`
	Needed bool   `json:"needed,omitempty"`
}

// Prompt is one that a server offers.
type Prompt struct {
	Server    string     `json:"-"`
	Name      string     `json:"name"`
	Note      string     `json:"note,omitempty"`
	Arguments []Argument `json:"arguments,omitempty"`
}

// stock is what one server has.
type stock struct {
	Resources []Entry  `json:"resources,omitempty"`
	Prompts   []Prompt `json:"prompts,omitempty"`
	More      bool     `json:"more,omitempty"` // it has more than is kept
}

// Catalog is what the servers of a pool have. It is safe for concurrent use.
type Catalog struct {
	pool *mcp.Pool
	file string // in which it is kept between runs; if empty, it is not
	mask func(string) string

	mu     sync.Mutex
	read   bool
	stocks map[string]stock
	asked  map[string]time.Time // when each server was asked for what is known of it
}

// New makes a catalog; it starts no server and reads nothing yet. mask hides secrets in what
// servers say; if nil, nothing is hidden.
func New(pool *mcp.Pool, file string, mask func(string) string) *Catalog {
	if mask == nil {
		mask = func(s string) string { return s }
	}
	return &Catalog{pool: pool, file: file, mask: mask, asked: map[string]time.Time{}}
}

// maxFile bounds what is kept, in bytes.
const maxFile = 8 << 20

// known is what is kept; the lock is held.
func (s *Catalog) known() map[string]stock {
	if s.read {
		return s.stocks
	}
	s.read, s.stocks = true, map[string]stock{}
	if info, err := os.Stat(s.file); s.file == "" || err != nil || !info.Mode().IsRegular() || info.Size() > maxFile {
		return s.stocks
	}
	if raw, err := os.ReadFile(s.file); err == nil && json.Unmarshal(raw, &s.stocks) != nil {
		s.stocks = map[string]stock{} // it is asked for again
	}
	return s.stocks
}

// keep keeps what a server has, unless it was asked later for what is known.
func (s *Catalog) keep(server string, asked time.Time, has stock) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if asked.Before(s.asked[server]) {
		return
	}
	s.asked[server] = asked
	all := s.known()
	all[server] = has
	if raw, err := json.Marshal(all); err == nil && s.file != "" && os.MkdirAll(filepath.Dir(s.file), 0o700) == nil {
		_ = atomicfile.WriteCache(s.file, raw) // else the next run asks again
	}
}

// of is what is known of a server.
func (s *Catalog) of(server string) (stock, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	has, ok := s.known()[server]
	return has, ok
}

// Prompts are those that are known, of servers that there are, in their order.
func (s *Catalog) Prompts() (out []Prompt) {
	for _, name := range s.pool.Names() {
		has, _ := s.of(name)
		for _, p := range has.Prompts {
			p.Server = name
			out = append(out, p)
		}
	}
	return out
}

// Mentions are the resources that are known, as a user names them behind an @: server:uri.
func (s *Catalog) Mentions() (out []string) {
	for _, name := range s.pool.Names() {
		has, _ := s.of(name)
		for _, r := range has.Resources {
			if !r.Template && plain(r.URI) {
				out = append(out, name+":"+r.URI)
			}
		}
	}
	return out
}

// Any reports whether some server says that it has resources, as far as that is known without
// starting it.
func (s *Catalog) Any() bool {
	return slices.ContainsFunc(s.pool.Names(), func(name string) bool {
		_, resources := s.pool.Shares(name)
		return resources
	})
}

// Counts is how much is known of what a server shares.
func (s *Catalog) Counts(server string) (resources, prompts int) {
	has, _ := s.of(server)
	return len(has.Resources), len(has.Prompts)
}
