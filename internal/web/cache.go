package web

import (
	"net/http"
	"strings"
	"sync"
	"time"
)

// Bounds of the cache. Fifteen minutes is one line of work on one page; the size bound keeps a long
// session from growing.
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

// cache keeps recent resources, oldest first. The zero value is ready.
type cache struct {
	mu      sync.Mutex
	entries []cacheEntry
	bytes   int
}

// get finds a resource that is still fresh.
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

// put keeps a resource and lets the oldest go when there are too many.
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

// drop lets the oldest entry go.
func (c *cache) drop() {
	c.bytes -= len(c.entries[0].res.body)
	c.entries[0] = cacheEntry{} // the array behind the slice must not keep the body
	c.entries = c.entries[1:]
}

// cacheable reports a complete page that its server does not forbid to keep. What this machine
// serves changes with the program that is being written.
func cacheable(res *resource) bool {
	return !ownName(res.url.Hostname()) && res.status == http.StatusOK && res.redirect == "" &&
		!strings.Contains(strings.ToLower(res.header.Get("Cache-Control")), "no-store")
}
