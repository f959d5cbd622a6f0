package web

import (
	"net/http"
	"strings"
	"sync"
	"time"
)

// Cache bounds. Fifteen minutes covers work on one page; the size bound keeps a long session from
// growing.
const (
	cacheAge   = 15 * time.Minute
	cacheBytes = 16 << 20
	cachePages = 64
)

type cacheKey struct {
	session  string
	url      string
	maxBytes int64
}

type cacheEntry struct {
	key  cacheKey
	res  *resource
	when time.Time
}

// cache holds recent resources, oldest first. The zero value is ready to use.
type cache struct {
	mu      sync.Mutex
	entries []cacheEntry
	bytes   int
}

func (c *cache) get(key cacheKey, now time.Time) (*resource, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.expire(now)
	for _, e := range c.entries {
		if e.key == key {
			return e.res, true
		}
	}
	return nil, false
}

func (c *cache) put(key cacheKey, res *resource, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.expire(now)
	c.entries = append(c.entries, cacheEntry{key, res, now})
	c.bytes += len(res.body)
	for len(c.entries) > cachePages || c.bytes > cacheBytes {
		c.drop()
	}
}

func (c *cache) expire(now time.Time) {
	for len(c.entries) > 0 && now.Sub(c.entries[0].when) >= cacheAge {
		c.drop()
	}
}

func (c *cache) drop() {
	c.bytes -= len(c.entries[0].res.body)
	c.entries[0] = cacheEntry{} // lets the garbage collector free the body
	c.entries = c.entries[1:]
}

// cacheable reports whether res is a complete page that its server allows to be cached. Pages from
// this machine are not cached: they change with the program under development.
func cacheable(res *resource) bool {
	return !ownName(res.url.Hostname()) && res.status == http.StatusOK && res.redirect == "" &&
		!strings.Contains(strings.ToLower(res.header.Get("Cache-Control")), "no-store")
}
