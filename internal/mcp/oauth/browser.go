package oauth

import (
	"context"
	"crypto/subtle"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"golang.org/x/oauth2"

	"adze/internal/mcp/remote"
)

const callbackPath = "/callback"

// callback serves the redirect from the browser. It accepts the one response with this login's
// state; any page may send others, which change nothing.
type callback struct {
	server *http.Server
	host   string
	answer chan url.Values
	tell   func(string)

	mu    sync.Mutex
	state string
}

// newCallback serves until close.
func newCallback(at net.Listener, tell func(string)) *callback {
	c := &callback{host: at.Addr().String(), answer: make(chan url.Values, 1), tell: tell}
	c.server = &http.Server{Handler: c, ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10}
	go func() { _ = c.server.Serve(at) }() // ends with close
	return c
}

func (c *callback) close() { _ = c.server.Close() }

func (c *callback) address() string { return "http://" + c.host + callbackPath }

// fetchCode opens the issuer's login page and waits for the redirect.
func (m Manager) fetchCode(ctx context.Context, c *callback, address string) (*auth.AuthorizationResult, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	c.state = u.Query().Get("state")
	c.mu.Unlock()
	if err := m.show(address); err != nil {
		return nil, err
	}
	select {
	case q := <-c.answer:
		if code := q.Get("error"); code != "" && q.Get("code") == "" {
			return nil, &oauth2.RetrieveError{ErrorCode: code}
		}
		return &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// show opens an address in the browser and prints it in case no browser opens.
func (m Manager) show(address string) error {
	address, err := Address(address)
	if err != nil {
		return err
	}
	m.Print("log in at " + address)
	if m.Open == nil {
		return nil
	}
	if err := m.Open(address); err != nil {
		m.Print("no browser could be opened (" + err.Error() + "): open the address yourself")
	}
	return nil
}

// ServeHTTP implements http.Handler.
func (c *callback) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	w.Header().Set("Referrer-Policy", "no-referrer")
	w.Header().Set("Cache-Control", "no-store")
	c.mu.Lock()
	state := c.state
	c.mu.Unlock()
	q := r.URL.Query()
	switch {
	case r.URL.Path != callbackPath || r.Method != http.MethodGet || r.Host != c.host:
		w.WriteHeader(http.StatusNotFound)
		return
	case state == "" || subtle.ConstantTimeCompare([]byte(q.Get("state")), []byte(state)) != 1:
		c.tell("an answer came that is not to this login (its state is another); it is not used")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, page("This answer is not used", "It is not to the login that adze waits for."))
		return
	}
	select {
	case c.answer <- q:
	default: // a duplicate
	}
	if q.Get("error") != "" {
		_, _ = io.WriteString(w, page("You are not logged in", "adze says why."))
		return
	}
	_, _ = io.WriteString(w, page("adze got an answer", "You can close this page."))
}

// page returns an HTML page with fixed text only: nothing from the address is in it.
func page(title, text string) string {
	return "<!doctype html><html lang=en><title>" + title + "</title><h1>" + title + "</h1><p>" + text + "</p></html>\n"
}

// Address validates an address to open in a browser or to print: http or https only, so that it
// names no program or file, and without characters that a shell or a terminal interprets.
func Address(raw string) (string, error) {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || len(raw) > 16<<10 {
		return "", remote.Refuse("tell whoever runs it", "this is no address to be opened: %.100q", raw)
	}
	safe := u.String() // controls, spaces and quotes are escaped here
	if odd := func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("\"`<>\\^{|}", r) }; strings.ContainsFunc(safe, odd) {
		return "", remote.Refuse("tell whoever runs it", "this is no address to be opened: %.100q", raw)
	}
	return safe, nil
}
