package oauth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"adze/internal/mcp/remote"
)

func TestALoginInTheBrowserBringsAToken(t *testing.T) {
	for name, prepare := range map[string]func(w *world){
		"as described":                func(*world) {},
		"described at the root":       func(w *world) { w.resource["resource"] = w.server.URL },
		"an issuer with a last slash": func(w *world) { w.resource["authorization_servers"] = []string{w.issuer.URL + "/"} },
		"without iss": func(w *world) {
			delete(w.meta, "authorization_response_iss_parameter_supported")
			w.answer = func(redirect, state, code string) string {
				return redirect + "?" + url.Values{"state": {state}, "code": {code}}.Encode()
			}
		},
		"an issuer that takes a secret alone": func(w *world) {
			w.meta["token_endpoint_auth_methods_supported"] = []string{"client_secret_post"}
		},
		"a lifetime of 3600.0 seconds": func(w *world) {
			w.token = func(form url.Values) (int, string) {
				status, text := w.give(form)
				return status, strings.Replace(text, `"expires_in":`+strconv.Itoa(int(w.expires)), `"expires_in":3600.0`, 1)
			}
		},
		"JSON that is called text": func(w *world) {
			w.spare["/token"] = func(rw http.ResponseWriter, r *http.Request) {
				_ = r.ParseForm()
				_, text := w.give(r.PostForm)
				rw.Header().Set("Content-Type", "text/plain")
				fmt.Fprint(rw, strings.Replace(text, `"expires_in":`+strconv.Itoa(int(w.expires)), `"expires_in":3.6e3`, 1))
			}
		},
		"nothing described": func(w *world) {
			w.resource, w.meta = nil, nil
			w.spare["/mcp"] = func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusUnauthorized) }
			w.answer = func(redirect, state, code string) string {
				return redirect + "?" + url.Values{"state": {state}, "code": {code}}.Encode()
			}
		},
	} {
		w := newWorld(t, false)
		prepare(w)
		if name == "described at the root" {
			w.token = func(form url.Values) (int, string) {
				form.Set("resource", form.Get("resource")+"/mcp") // it was asked for the root
				return w.give(form)
			}
		}
		d, said := w.desk(t)
		k, where, err := d.Login(t.Context(), w.mcp(), Options{})
		if err != nil || k.Access != "access-secret-1" || k.Refresh != "refresh-secret-1" || !strings.Contains(where, "logins.json") {
			t.Errorf("%s: %+v, %q, %v; asked %s", name, k, where, err, w.paths())
			continue
		}
		if strings.Contains(said.text(), "secret") || !strings.Contains(said.text(), w.issuer.URL+"/authorize?") {
			t.Errorf("%s: the person was told %s", name, said.text())
		}
		info, err := os.Stat(d.Store.File)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
		token, err := d.Handler(w.mcp()).Token(t.Context())
		if err != nil || token == nil || token.AccessToken != "access-secret-1" {
			t.Errorf("%s: the connection gets %v, %v", name, token, err)
		}
	}
}

// Each thing that a server or an issuer does to get at what is not its own ends the login, with
// nothing kept.
func TestALoginIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		other   bool
		prepare func(w *world)
		o       Options
		says    string
		never   string // a path that nobody asks
	}{
		"the server sends logins to another origin": {true, func(*world) {}, Options{}, "to another origin", "/authorize"},
		"an issuer that was not named":              {true, func(*world) {}, Options{Issuer: "https://other.example"}, "takes no logins of https://other.example", "/authorize"},
		"an answer of another issuer": {false, func(w *world) {
			w.answer = func(redirect, state, code string) string {
				return redirect + "?" + url.Values{"state": {state}, "code": {code}, "iss": {"https://evil.example"}}.Encode()
			}
		}, Options{}, "does not match expected issuer", "/token"},
		"an answer without its issuer": {false, func(w *world) {
			w.answer = func(redirect, state, code string) string {
				return redirect + "?" + url.Values{"state": {state}, "code": {code}}.Encode()
			}
		}, Options{}, "but none was received", "/token"},
		"an issuer in an answer that was not announced": {false, func(w *world) {
			delete(w.meta, "authorization_response_iss_parameter_supported")
		}, Options{}, "does not advertise", "/token"},
		"the issuer says that it is another": {false, func(w *world) { w.meta["issuer"] = "https://accounts.example" }, Options{}, "does not match issuer", "/authorize"},
		"an issuer without TLS":              {false, func(w *world) { w.resource["authorization_servers"] = []string{"http://issuer.example"} }, Options{}, "not protected", "/authorize"},
		"a token endpoint without TLS":       {false, func(w *world) { w.meta["token_endpoint"] = "http://issuer.example/token" }, Options{}, "does not use HTTPS", "/authorize"},
		"a token endpoint elsewhere on this machine": {false, func(w *world) { w.meta["token_endpoint"] = "http://127.0.0.1:1/token" }, Options{},
			"read on the way", ""},
		"a page to run":         {false, func(w *world) { w.meta["authorization_endpoint"] = "javascript:alert(1)" }, Options{}, "disallowed scheme", "/authorize"},
		"a file to open":        {false, func(w *world) { w.meta["authorization_endpoint"] = "file:///etc/passwd" }, Options{}, "does not use HTTPS", "/token"},
		"no PKCE":               {false, func(w *world) { delete(w.meta, "code_challenge_methods_supported") }, Options{}, "PKCE", "/authorize"},
		"tokens for another":    {false, func(w *world) { w.resource["resource"] = "https://other.example/mcp" }, Options{}, "for another server", "/authorize"},
		"tokens for a path":     {false, func(w *world) { w.resource["resource"] = w.server.URL + "/mcp/else" }, Options{}, "for another server", "/authorize"},
		"tokens for a like one": {false, func(w *world) { w.resource["resource"] = w.server.URL + "/mc" }, Options{}, "for another server", "/authorize"},
		"described elsewhere": {false, func(w *world) {
			w.spare["/mcp"] = func(rw http.ResponseWriter, _ *http.Request) {
				rw.Header().Set("WWW-Authenticate", `Bearer resource_metadata="http://169.254.169.254/latest"`)
				rw.WriteHeader(http.StatusUnauthorized)
			}
		}, Options{}, "another origin", "/authorize"},
		"a redirect into this machine": {false, func(w *world) {
			w.spare["/.well-known/oauth-protected-resource/mcp"] = func(rw http.ResponseWriter, r *http.Request) {
				http.Redirect(rw, r, "http://127.0.0.1:1/secret", http.StatusFound)
			}
		}, Options{}, "another origin", "/authorize"},
		"an issuer that redirects into this machine": {false, func(w *world) {
			w.spare["/.well-known/oauth-authorization-server"] = func(rw http.ResponseWriter, r *http.Request) {
				http.Redirect(rw, r, "https://127.0.0.1:1/secret", http.StatusFound)
			}
		}, Options{}, "private network", "/authorize"},
		"an issuer that redirects to plain http": {false, func(w *world) {
			w.spare["/.well-known/oauth-authorization-server"] = func(rw http.ResponseWriter, r *http.Request) {
				http.Redirect(rw, r, "http://issuer.example/", http.StatusFound)
			}
		}, Options{}, "read on the way", "/authorize"},
		"a code that is sent on": {false, func(w *world) {
			w.spare["/token"] = func(rw http.ResponseWriter, r *http.Request) {
				http.Redirect(rw, r, "/token2", http.StatusTemporaryRedirect)
			}
		}, Options{}, "holds a secret", "/token2"},
		"an endless description": {false, func(w *world) {
			w.spare["/.well-known/oauth-authorization-server"] = func(rw http.ResponseWriter, _ *http.Request) {
				for {
					if _, err := rw.Write(make([]byte, 64<<10)); err != nil {
						return
					}
				}
			}
		}, Options{}, "content type", "/authorize"},
		"a token of another kind": {false, func(w *world) {
			w.token = func(url.Values) (int, string) { return 200, `{"access_token":"a","token_type":"DPoP"}` }
		}, Options{}, "of a kind", ""},
		"no token at all": {false, func(w *world) { w.token = func(url.Values) (int, string) { return 200, `null` } }, Options{}, "access_token", ""},
		"the person says no": {false, func(w *world) {
			w.answer = func(redirect, state, _ string) string {
				return redirect + "?" + url.Values{"state": {state}, "error": {"access_denied"}, "error_description": {"\x1b[31mx"}, "iss": {w.issuer.URL}}.Encode()
			}
		}, Options{}, "was refused there", "/token"},
		"no registration": {false, func(w *world) { delete(w.meta, "registration_endpoint") }, Options{}, "no program register", "/authorize"},
		"no login wanted": {false, func(w *world) {
			w.resource = nil
			w.spare["/mcp"] = func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusOK) }
		}, Options{}, "wants no login", "/authorize"},
	} {
		w := newWorld(t, c.other)
		c.prepare(w)
		d, said := w.desk(t)
		_, _, err := d.Login(t.Context(), w.mcp(), c.o)
		if err == nil || !strings.Contains(err.Error(), c.says) || strings.ContainsRune(err.Error()+said.text(), '\x1b') {
			t.Errorf("%s: %v", name, err)
		}
		if c.never != "" && strings.Contains(w.paths()+" ", c.never+" ") {
			t.Errorf("%s: asked %s", name, w.paths())
		}
		if has, err := d.Store.List(); len(has) > 0 || err != nil {
			t.Errorf("%s: kept %v, %v", name, has, err)
		}
	}
}

func TestAnotherOriginIsFollowedWhenThePersonSaysSo(t *testing.T) {
	w := newWorld(t, true)
	d, _ := w.desk(t)
	k, _, err := d.Login(t.Context(), w.mcp(), Options{Issuer: w.issuer.URL})
	if err != nil || k.Issuer != w.issuer.URL {
		t.Fatalf("%+v, %v", k, err)
	}
	// The login before says where, and another issuer is asked about again.
	d.Choose = func(context.Context, string, []string) string {
		t.Error("asked about the same issuer again")
		return ""
	}
	if _, _, err := d.Login(t.Context(), w.mcp(), Options{}); err != nil {
		t.Error(err)
	}
}

// The user is asked where they log in: at an issuer that is another origin, and at one of several.
func TestTheUserIsAskedWhereTheyLogIn(t *testing.T) {
	const far = "https://issuer.invalid/tenant"
	for name, c := range map[string]struct {
		issuers func(w *world) []string
		answer  func(w *world) string
		offered func(w *world) []string
		logs    bool
	}{
		"another origin, refused": {func(*world) []string { return []string{far} }, func(*world) string { return "" }, func(*world) []string { return []string{far} }, false},
		"another origin, agreed":  {func(w *world) []string { return []string{w.issuer.URL} }, func(w *world) string { return w.issuer.URL }, func(w *world) []string { return []string{w.issuer.URL} }, true},
		"one of several": {func(w *world) []string { return []string{far, w.issuer.URL} }, func(w *world) string { return w.issuer.URL },
			func(w *world) []string { return []string{far, w.issuer.URL} }, true},
		"none of several":      {func(w *world) []string { return []string{far, w.server.URL} }, func(*world) string { return "" }, func(w *world) []string { return []string{far, w.server.URL} }, false},
		"one that was not one": {func(*world) []string { return []string{far} }, func(*world) string { return "https://evil.example" }, func(*world) []string { return []string{far} }, false},
	} {
		w := newWorld(t, true)
		w.resource["authorization_servers"] = c.issuers(w)
		d, _ := w.desk(t)
		var offered []string
		d.Choose = func(_ context.Context, _ string, issuers []string) string { offered = issuers; return c.answer(w) }
		k, _, err := d.Login(t.Context(), w.mcp(), Options{})
		if !slices.Equal(offered, c.offered(w)) {
			t.Errorf("%s: offered %q", name, offered)
		}
		var own *remote.Error
		switch {
		case c.logs && (err != nil || k.Issuer != w.issuer.URL):
			t.Errorf("%s: %+v, %v", name, k, err)
		case !c.logs && (!errors.As(err, &own) || !strings.Contains(own.Hint, "--issuer "+far) || strings.Contains(w.paths(), "/authorize")):
			t.Errorf("%s: %v; asked %s", name, err, w.paths())
		}
	}
}

// A server elsewhere cannot send the user to what answers on their own machine.
func TestAServerElsewhereOffersNoIssuerOfThisMachine(t *testing.T) {
	at, _ := url.Parse("https://mcp.example/mcp")
	d := Manager{Choose: func(context.Context, string, []string) string { t.Error("asked"); return "http://127.0.0.1:9" }}
	_, err := d.choose(t.Context(), Server{Name: "acme", URL: at}, []string{"http://127.0.0.1:9"}, "", "")
	if err == nil {
		t.Error("no error")
	}
}

// What any page in the user's browser may send to the address that the login comes back to
// neither ends it nor counts.
func TestAForgedAnswerChangesNothing(t *testing.T) {
	w := newWorld(t, false)
	d, said := w.desk(t)
	follow := d.Open
	d.Open = func(address string) error {
		u, _ := url.Parse(address)
		back := u.Query().Get("redirect_uri")
		for _, forged := range []string{"?state=wrong&code=evil", "?code=evil", "", "/../else?code=evil&state=" + u.Query().Get("state") + "x"} {
			resp, err := http.Get(back + forged)
			if err != nil || resp.StatusCode/100 == 2 {
				t.Errorf("%s: %v, %v", forged, resp, err)
				continue
			}
			resp.Body.Close()
		}
		r, _ := http.NewRequest(http.MethodGet, back+"?code=evil&state="+u.Query().Get("state"), nil)
		r.Host = "rebound.example"
		if resp, err := http.DefaultClient.Do(r); err != nil || resp.StatusCode != http.StatusNotFound {
			t.Errorf("another host: %v, %v", resp, err)
		} else {
			resp.Body.Close()
		}
		return follow(address)
	}
	k, _, err := d.Login(t.Context(), w.mcp(), Options{})
	if err != nil || k.Access != "access-secret-1" || !strings.Contains(said.text(), "its state is another") {
		t.Errorf("%+v, %v, %s", k, err, said.text())
	}
}

func TestALoginThatIsGivenUpLeavesNothing(t *testing.T) {
	w := newWorld(t, false)
	d, _ := w.desk(t)
	ctx, cancel := context.WithCancel(t.Context())
	door := ""
	d.Open = func(address string) error {
		u, _ := url.Parse(address)
		door = u.Query().Get("redirect_uri")
		cancel()
		return nil
	}
	if _, _, err := d.Login(ctx, w.mcp(), Options{}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if resp, err := http.Get(door); err == nil {
		resp.Body.Close()
		t.Error("it still waits for the browser")
	}
}

func TestAddressesThatMayBeOpened(t *testing.T) {
	for raw, good := range map[string]bool{
		"https://a.example/x?y=1&z=%20": true, "http://127.0.0.1:1/": true,
		"": false, "javascript:alert(1)": false, "file:///etc/passwd": false, "a.example": false, "--help": false, "-https://a": false,
		"https://u:p@a.example/": false, "ssh://a": false, "https:///x": false, "HTTPS://a.example": true, "data:text/html,x": false,
	} {
		if _, err := Address(raw); (err == nil) != good {
			t.Errorf("%s: %v", raw, err)
		}
	}
	for _, raw := range []string{"https://a.example/\x1b]0;x\a", "https://a.example/\"&calc", "https://a.example/`id`", "https://a.example/$(id) x", "https://a.example/|calc", "https://a.example/?q=\"; id", "https://a.example/\u202e", "https://a.example/#\"'\\"} {
		got, err := Address(raw)
		if err == nil && strings.ContainsAny(got, "\x1b\a\"`<>\\ |\u202e") {
			t.Errorf("%q became %q", raw, got)
		}
	}
}
