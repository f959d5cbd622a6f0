package oauth

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/oauth2"

	"adze/internal/config/keyring"
	"adze/internal/mcp/remote"
)

// loggedIn is a world with a login, and the keeper of it.
func loggedIn(t *testing.T, other bool) (*world, Manager, *Handler) {
	w := newWorld(t, other)
	d, _ := w.desk(t)
	if _, _, err := d.Login(t.Context(), w.mcp(), Options{Issuer: w.issuer.URL}); err != nil {
		t.Fatal(err)
	}
	return w, d, d.Handler(w.mcp())
}

func late() time.Time { return time.Now().Add(2 * time.Hour) }

func TestATokenThatRanOutIsRefreshedOnce(t *testing.T) {
	w, d, k := loggedIn(t, true)
	k.now = late
	other := d.Handler(w.mcp()) // of another process
	other.now = late
	w.spoil(func() { w.expires = 8 * 3600 })
	var all sync.WaitGroup
	for _, each := range []*Handler{k, other, k, other} {
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
	if kept, _, err := d.Store.Login(w.mcp().URL); err != nil || kept.Refresh != "refresh-secret-2" {
		t.Errorf("%+v, %v", kept, err)
	}
}

func TestARefusedRefreshWantsALogin(t *testing.T) {
	w, d, k := loggedIn(t, false)
	k.now = late
	w.spoil(func() { w.refresh = "another" })
	for range 3 {
		_, err := k.Token(t.Context())
		var wanted *LoginRequired
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
	var wanted *LoginRequired
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
func serverSays(t *testing.T, w *world, k *Handler) (int, error) {
	t.Helper()
	c := remote.Client(w.mcp().URL, nil)
	for again := range 2 {
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, w.mcp().URL.String(), nil)
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
	var wanted *LoginRequired
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
	fresh := d.Handler(w.mcp())
	if _, err := serverSays(t, w, fresh); !errors.As(err, &wanted) || err.Error() != "acme wants a login" {
		t.Error(err)
	}
	var own *remote.Error
	if _, err := d.Logout(t.Context(), w.mcp()); !errors.As(err, &own) {
		t.Error(err)
	}
}

// A login belongs to its server and its issuer, whatever the list of logins is made to say.
func TestALoginGoesToNoOther(t *testing.T) {
	w, d, _ := loggedIn(t, false)
	for _, other := range []string{"https://evil.example/mcp", w.server.URL + "/other", strings.Replace(w.server.URL, "127.0.0.1", "localhost", 1) + "/mcp"} {
		at, _ := url.Parse(other)
		if token, err := d.Handler(Server{Name: "acme", URL: at}).Token(t.Context()); token != nil || err != nil {
			t.Errorf("%s gets %v, %v", other, token, err)
		}
	}
	kept, _, _ := d.Store.Login(w.mcp().URL)
	evil, _ := url.Parse("https://evil.example/mcp")
	if _, err := d.Store.Keep(evil, kept); err != nil { // as if the list had been changed by hand
		t.Fatal(err)
	}
	if token, err := d.Handler(Server{Name: "acme", URL: evil}).Token(t.Context()); token != nil || err == nil {
		t.Errorf("a token for another server: %v, %v", token, err)
	}
}

func TestATokenIsTakenAsItIs(t *testing.T) {
	k, err := Login{Refresh: "old", Scopes: []string{"a"}}.with((&oauth2.Token{AccessToken: "new", TokenType: "bearer"}).WithExtra(map[string]any{"scope": "b c"}))
	if err != nil || k.Refresh != "old" || strings.Join(k.Scopes, " ") != "b c" {
		t.Errorf("%+v, %v", k, err)
	}
}

// The tokens of a login that is bound to a key cannot be sent, and a new login is asked for.
func TestALoginThatIsBoundToAKeyIsDoneAgain(t *testing.T) {
	w, d, k := loggedIn(t, false)
	kept, _, err := d.Store.Login(w.mcp().URL)
	if err != nil {
		t.Fatal(err)
	}
	kept.Key = "-----BEGIN PRIVATE KEY-----"
	if _, err := d.Store.Keep(w.mcp().URL, kept); err != nil {
		t.Fatal(err)
	}
	var required *LoginRequired
	if _, err := k.Token(t.Context()); !errors.As(err, &required) || required.Next() != "adze mcp login acme" {
		t.Error(err)
	}
	if _, _, err := d.Login(t.Context(), w.mcp(), Options{}); err != nil {
		t.Error(err)
	}
}

// A login as older versions wrote it is used and refreshed.
func TestALoginOfAnOlderVersion(t *testing.T) {
	w, d, k := loggedIn(t, false)
	const older = `{"resource":%q,"issuer":%q,"token_endpoint":%q,"revocation_endpoint":"https://issuer.example/revoke","client_id":"c1","scopes":["tools"],"access_token":"access-secret-1","refresh_token":"refresh-secret-1","expiry":"2030-01-02T15:04:05Z"}`
	raw := fmt.Sprintf(older, w.server.URL+"/mcp", w.issuer.URL, w.issuer.URL+"/token")
	if _, _, err := keyring.Open(d.Store.File, nil).Keep(w.mcp().URL.String(), w.issuer.URL, raw, true); err != nil {
		t.Fatal(err)
	}
	if token, err := k.Token(t.Context()); err != nil || token.AccessToken != "access-secret-1" {
		t.Fatal(token, err)
	}
	k.now = func() time.Time { return time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC) }
	w.spoil(func() { w.expires = 1 << 30 })
	if token, err := k.Token(t.Context()); err != nil || token.AccessToken != "access-secret-2" {
		t.Fatal(token, err)
	}
}
