package oauth

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"golang.org/x/oauth2"
)

// back is the path that the browser comes back to.
const back = "/callback"

// byBrowser has the user say yes in their browser, which comes back to this machine (RFC 8252).
func (d Desk) byBrowser(ctx context.Context, f found, o Options) (k Kept, err error) {
	if f.meta.AuthorizationEndpoint == "" || !f.meta.pkce() {
		return k, refuse("adze mcp login "+f.server.Name+" --device if it knows that", "%s offers no login in a browser that is protected (PKCE)", f.issuer.Host)
	}
	at, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(o.Port)))
	if err != nil {
		return k, fmt.Errorf("wait for the browser: %w", err)
	}
	door := &door{host: at.Addr().String(), state: rand.Text(), came: make(chan url.Values, 1), tell: d.Tell}
	server := &http.Server{Handler: door, ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10}
	defer server.Close()
	go func() { _ = server.Serve(at) }() // ends with Close
	redirect := "http://" + door.host + back
	if k, err = f.register(ctx, o, redirect); err != nil {
		return k, err
	}
	config := k.config()
	config.Endpoint.AuthURL, config.RedirectURL = f.meta.AuthorizationEndpoint, redirect
	verifier, target := oauth2.GenerateVerifier(), oauth2.SetAuthURLParam("resource", k.Resource)
	if err := d.show(config.AuthCodeURL(door.state, oauth2.S256ChallengeOption(verifier), target)); err != nil {
		return k, err
	}
	var answer url.Values
	select {
	case answer = <-door.came:
	case <-ctx.Done():
		return k, context.Cause(ctx)
	}
	if err := f.judge(answer); err != nil {
		return k, err
	}
	params, err := k.asserting(f.server.Config)
	if err != nil {
		return k, err
	}
	token, err := config.Exchange(with(ctx, f.client), answer.Get("code"), append(params, oauth2.VerifierOption(verifier), target)...)
	if err != nil {
		return k, err
	}
	return k.take(token)
}

// show opens an address in the browser and tells it, for where no browser opens.
func (d Desk) show(address string) error {
	address, err := Address(address)
	if err != nil {
		return err
	}
	d.Tell("log in at " + address)
	if d.Open == nil {
		return nil
	}
	if err := d.Open(address); err != nil {
		d.Tell("no browser could be opened (" + err.Error() + "): open the address yourself")
	}
	return nil
}

// judge refuses an answer that is none, or of another issuer (RFC 9207).
func (f found) judge(answer url.Values) error {
	iss, told := answer.Get("iss"), f.meta.AuthorizationResponseIssParameterSupported
	switch {
	case iss != "" && iss != f.meta.Issuer, iss == "" && told:
		return refuse("begin anew; if it stays so, do not log in there", "the answer is not one of %s: it says that it is of %.200q", f.issuer.Host, iss)
	case iss != "" && !told:
		return refuse("tell whoever runs it", "%s names itself in its answer and does not say that it does", f.issuer.Host)
	case answer.Get("error") != "":
		return &oauth2.RetrieveError{ErrorCode: answer.Get("error")}
	case answer.Get("code") == "":
		return refuse("begin anew", "%s sent neither a code nor a reason", f.issuer.Host)
	}
	return nil
}

// door is what the browser comes back to. It lets in the one answer that carries the state of this
// login; others, which any page may send here, change nothing.
type door struct {
	host, state string
	came        chan url.Values
	tell        func(string)
}

// ServeHTTP implements http.Handler.
func (d *door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	w.Header().Set("Referrer-Policy", "no-referrer")
	w.Header().Set("Cache-Control", "no-store")
	q := r.URL.Query()
	switch {
	case r.URL.Path != back || r.Method != http.MethodGet || r.Host != d.host:
		w.WriteHeader(http.StatusNotFound)
		return
	case subtle.ConstantTimeCompare([]byte(q.Get("state")), []byte(d.state)) != 1:
		d.tell("an answer came that is not to this login (its state is another); it is not used")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, page("This answer is not used", "It is not to the login that adze waits for."))
		return
	}
	select {
	case d.came <- q:
	default: // it came already
	}
	if q.Get("error") != "" {
		_, _ = io.WriteString(w, page("You are not logged in", "adze says why."))
		return
	}
	_, _ = io.WriteString(w, page("adze got an answer", "You can close this page."))
}

// page is a page of our own words: nothing of what came in the address is in it.
func page(title, text string) string {
	return "<!doctype html><html lang=en><title>" + title + "</title><h1>" + title + "</h1><p>" + text + "</p></html>\n"
}

// Address reads an address that may be opened in a browser or shown for it: http or https, so that
// neither a program nor a file hides behind it, and nothing that a shell or a terminal would read
// in its own way.
func Address(raw string) (string, error) {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || len(raw) > 16<<10 {
		return "", refuse("tell whoever runs it", "this is no address to be opened: %.100q", raw)
	}
	safe := u.String() // controls, spaces and quotes are escaped by now
	if odd := func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("\"`<>\\^{|}", r) }; strings.ContainsFunc(safe, odd) {
		return "", refuse("tell whoever runs it", "this is no address to be opened: %.100q", raw)
	}
	return safe, nil
}
