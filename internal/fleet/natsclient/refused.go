package natsclient

import (
	"errors"
	"fmt"
	"regexp"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// refusals keeps what a server has refused this connection. A server gives a request that the user
// may not make no answer: it says so beside, and the request waits in vain.
type refusals struct {
	mu   sync.Mutex
	what string // the last subject
	at   time.Time
}

// refusedFor is how long a request may have waited in vain after the server refused it.
const refusedFor = 30 * time.Second

func (r *refusals) note(err error) {
	if !errors.Is(err, nats.ErrPermissionViolation) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.what, r.at = "this", time.Now()
	if m := regexp.MustCompile(`(?i)permissions violation for ((?:publish|subscription) to "[^"]*")`).FindStringSubmatch(err.Error()); m != nil {
		r.what = m[1]
	}
}

// Forbidden makes an error of a request that was refused ErrRefused; other errors stay.
func (c *Conn) Forbidden(err error) error {
	if err == nil || !Passing(err) || c.refusals == nil {
		return err
	}
	c.refusals.mu.Lock()
	defer c.refusals.mu.Unlock()
	if time.Since(c.refusals.at) > refusedFor {
		return err
	}
	return fmt.Errorf("%w: %s does not let its user do this (%s); use the one of its owner, or of a worker where a worker writes it: deploy/README.md says who may do what", ErrRefused, c.options.URL, c.refusals.what)
}
