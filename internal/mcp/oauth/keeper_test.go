package oauth

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/oauth2"

	"adze/internal/mcp/remote"
)

// inside carries requests to a world without a network, so that time can be made to pass.
type inside struct{ w *world }

// RoundTrip implements http.RoundTripper.
func (i inside) RoundTrip(r *http.Request) (*http.Response, error) {
	rec := httptest.NewRecorder()
	i.w.serve(rec, r)
	return rec.Result(), nil
}

func TestADeviceIsWaitedFor(t *testing.T) {
	for name, c := range map[string]struct {
		polls  []string
		given  bool
		says   string
		within time.Duration
	}{
		"at once":   {nil, true, "", time.Second},
		"pending":   {[]string{"authorization_pending", "authorization_pending"}, true, "", 3 * time.Second},
		"slow down": {[]string{"slow_down", "authorization_pending", "slow_down"}, true, "", (1 + 6 + 6 + 11) * time.Second},
		"denied":    {[]string{"authorization_pending", "access_denied"}, false, "was refused there", 2 * time.Second},
		"expired":   {[]string{"expired_token"}, false, "ran out", time.Second},
		"another":   {[]string{"invalid_client"}, false, "invalid_client", time.Second},
		"never":     {strings.Fields(strings.Repeat("authorization_pending ", 1000)), false, "", patience},
	} {
		w := newWorld(t, false) // its real listeners, which nobody asks here, stay outside
		synctest.Test(t, func(t *testing.T) {
			w.polls = c.polls
			d, said := w.desk(t)
			d.Clients = Clients{func(*url.URL, http.Header) *http.Client { return &http.Client{Transport: inside{w}} }, func(...*url.URL) *http.Client { return &http.Client{Transport: inside{w}} }}
			began := time.Now()
			k, _, err := d.Login(t.Context(), w.mcp(), Options{Device: true})
			if (err == nil) != c.given || c.given != (k.Access != "") || err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: %+v, %v", name, k, err)
			}
			if took := time.Since(began); took != c.within {
				t.Errorf("%s: after %s, want %s", name, took, c.within)
			}
			if !strings.Contains(said.text(), "with the code ABCD-EFGH") {
				t.Errorf("%s: the person was told %q", name, said.text())
			}
		})
	}
}

// loggedIn is a world with a login, and the keeper of it.
func loggedIn(t *testing.T, other bool) (*world, Desk, *Keeper) {
	w := newWorld(t, other)
	d, _ := w.desk(t)
	if _, _, err := d.Login(t.Context(), w.mcp(), Options{Issuer: w.issuer.URL}); err != nil {
		t.Fatal(err)
	}
	return w, d, d.Keep(w.mcp())
}

func late() time.Time { return time.Now().Add(2 * time.Hour) }

func TestATokenThatRanOutIsRefreshedOnce(t *testing.T) {
	w, d, k := loggedIn(t, true)
	k.now = late
	other := d.Keep(w.mcp()) // of another process
	other.now = late
	w.spoil(func() { w.expires = 8 * 3600 })
	var all sync.WaitGroup
	for _, each := range []*Keeper{k, other, k, other} {
		all.Go(func() {
			if token, err := each.Token(t.Context()); err != nil || token.AccessToken != "access-secret-2" {
				t.Errorf("%v, %v", token, err)
			}
		})
	}
	all.Wait()
	if w.granted != 2 {
		t.Errorf("%d tokens were given", w.granted)
	}
	if kept, _, err := d.Shelf.Of(w.mcp().At); err != nil || kept.Refresh != "refresh-secret-2" {
		t.Errorf("%+v, %v", kept, err)
	}
}

func TestARefusedRefreshWantsALogin(t *testing.T) {
	w, d, k := loggedIn(t, false)
	k.now = late
	w.spoil(func() { w.refresh = "another" })
	for range 3 {
		_, err := k.Token(t.Context())
		var wanted *Wanted
		if !errors.As(err, &wanted) || wanted.Next() != "adze mcp login acme" || strings.Contains(err.Error(), "secret") {
			t.Fatal(err)
		}
	}
	if len(w.forms) != 2 {
		t.Errorf("a token that was refused is sent again: %d", len(w.forms)-1)
	}
	w.spoil(func() { w.token = func(url.Values) (int, string) { return 503, "" } })
	if _, _, err := d.Login(t.Context(), w.mcp(), Options{}); err == nil {
		t.Error("no error of a broken issuer")
	}
}

// An issuer that cannot answer now takes no login away.
func TestABrokenIssuerTakesNoLoginAway(t *testing.T) {
	w, d, k := loggedIn(t, false)
	k.now = late
	w.spoil(func() { w.token = func(url.Values) (int, string) { return 503, "" } })
	var wanted *Wanted
	if _, err := k.Token(t.Context()); err == nil || errors.As(err, &wanted) {
		t.Fatal(err)
	}
	w.spoil(func() { w.token, w.expires = nil, 8*3600 })
	if token, err := k.Token(t.Context()); err != nil || token.AccessToken != "access-secret-2" {
		t.Errorf("%v, %v", token, err)
	}
	_ = d
}

// serverSays asks the server as the transport does: with a token, and again after Authorize.
func serverSays(t *testing.T, w *world, k *Keeper) (int, error) {
	t.Helper()
	c := remote.Client(w.mcp().At, nil)
	for again := range 2 {
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, w.mcp().At.String(), nil)
		source, err := k.TokenSource(t.Context())
		if err != nil {
			return 0, err
		}
		if source != nil {
			token, _ := source.Token()
			r.Header.Set("Authorization", "Bearer "+token.AccessToken)
		}
		resp, err := c.Do(r)
		if err != nil {
			return 0, err
		}
		resp.Body.Close()
		if again == 1 || resp.StatusCode/100 == 2 {
			return resp.StatusCode, nil
		}
		if err := k.Authorize(t.Context(), r, resp); err != nil {
			return resp.StatusCode, err
		}
	}
	return 0, nil
}

func TestARequestThatIsRefused(t *testing.T) {
	w, d, k := loggedIn(t, false)
	if status, err := serverSays(t, w, k); status != 200 || err != nil {
		t.Fatal(status, err)
	}
	w.spoil(func() { w.valid = "revoked" }) // the server takes it no more: it is refreshed
	if status, err := serverSays(t, w, k); status != 200 || err != nil || w.granted != 2 {
		t.Fatal(status, err, w.granted)
	}
	var wanted *Wanted
	w.spoil(func() {
		w.spare["/mcp"] = func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("WWW-Authenticate", `Bearer error="insufficient_scope", scope="files:write '; rm -rf ~ admin"`)
			rw.WriteHeader(http.StatusForbidden)
		}
	})
	if _, err := serverSays(t, w, k); !errors.As(err, &wanted) || wanted.Next() != "adze mcp login acme --scope 'tools files:write ; rm -rf ~ admin'" && wanted.Next() != "adze mcp login acme --scope 'tools files:write rm -rf ~ admin'" {
		t.Fatal(err, wanted)
	}
	w.spoil(func() { delete(w.spare, "/mcp") })
	if revoked, err := d.Logout(t.Context(), w.mcp()); err != nil || revoked {
		t.Fatal(revoked, err)
	}
	if !strings.Contains(w.paths(), "/revoke") {
		t.Error("the issuer was not told")
	}
	fresh := d.Keep(w.mcp())
	if _, err := serverSays(t, w, fresh); !errors.As(err, &wanted) || err.Error() != "acme wants a login" {
		t.Error(err)
	}
	var own *Error
	if _, err := d.Logout(t.Context(), w.mcp()); !errors.As(err, &own) {
		t.Error(err)
	}
}

// A login belongs to its server and its issuer, whatever the list of logins is made to say.
func TestALoginGoesToNoOther(t *testing.T) {
	w, d, _ := loggedIn(t, false)
	for _, other := range []string{"https://evil.example/mcp", w.server.URL + "/other", strings.Replace(w.server.URL, "127.0.0.1", "localhost", 1) + "/mcp"} {
		at, _ := url.Parse(other)
		if token, err := d.Keep(Server{Name: "acme", At: at}).Token(t.Context()); token != nil || err != nil {
			t.Errorf("%s gets %v, %v", other, token, err)
		}
	}
	kept, _, _ := d.Shelf.Of(w.mcp().At)
	evil, _ := url.Parse("https://evil.example/mcp")
	if _, err := d.Shelf.Keep(evil, kept); err != nil { // as if the list had been changed by hand
		t.Fatal(err)
	}
	if token, err := d.Keep(Server{Name: "acme", At: evil}).Token(t.Context()); token != nil || err == nil {
		t.Errorf("a token for another server: %v, %v", token, err)
	}
}

func TestATokenIsTakenAsItIs(t *testing.T) {
	k, err := Kept{Refresh: "old", Scopes: []string{"a"}}.take((&oauth2.Token{AccessToken: "new", TokenType: "bearer"}).WithExtra(map[string]any{"scope": "b c"}))
	if err != nil || k.Refresh != "old" || strings.Join(k.Scopes, " ") != "b c" {
		t.Errorf("%+v, %v", k, err)
	}
}
