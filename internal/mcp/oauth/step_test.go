package oauth

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"adze/internal/mcp/remote"
)

// lacking has the server refuse calls whose token was not asked for with a scope.
func (w *world) lacking(scope string) {
	w.spoil(func() {
		w.spare["/mcp"] = func(rw http.ResponseWriter, r *http.Request) {
			switch {
			case r.Header.Get("Authorization") != "Bearer "+w.valid:
				rw.Header().Set("WWW-Authenticate", "Bearer")
				rw.WriteHeader(http.StatusUnauthorized)
			case len(w.scopes) == 0 || !slices.Contains(strings.Fields(w.scopes[len(w.scopes)-1]), scope):
				rw.Header().Set("WWW-Authenticate", `Bearer error="insufficient_scope", scope="`+scope+`"`)
				rw.WriteHeader(http.StatusForbidden)
			}
		}
	})
}

// A call that needs more than the login has goes on after the user agreed: they log in for all that
// they had and what is lacking, once, however many calls need it.
func TestMoreScopesInTheMiddleOfARun(t *testing.T) {
	w, d, _ := loggedIn(t, true)
	asked := 0
	d.RequestScopes = func(_ context.Context, server string, scopes []string) bool {
		if asked++; server != "acme" || strings.Join(scopes, " ") != "tools write" {
			t.Errorf("asked for %q at %s", scopes, server)
		}
		return true
	}
	k := d.Handler(w.mcp())
	w.lacking("write")
	var calls sync.WaitGroup
	for range 4 {
		calls.Go(func() {
			if status, err := serverSays(t, w, k); status != 200 || err != nil {
				t.Errorf("%d %v", status, err)
			}
		})
	}
	calls.Wait()
	if asked != 1 || len(w.scopes) != 2 || len(strings.Fields(w.scopes[1])) != 2 {
		t.Errorf("asked %d times; %q", asked, w.scopes)
	}
	kept, _, err := d.Store.Login(w.mcp().URL)
	if err != nil || strings.Join(kept.Scopes, " ") != "tools write" {
		t.Errorf("%+v, %v", kept, err)
	}
}

// A server that always wants more is not obeyed for ever: a scope that the login has is not asked
// for again, and new ones three times at most.
func TestAServerThatAlwaysWantsMore(t *testing.T) {
	w, d, _ := loggedIn(t, false)
	asked := 0
	d.RequestScopes = func(context.Context, string, []string) bool { asked++; return true }
	k := d.Handler(w.mcp())
	var wanted *LoginRequired
	w.lacking("tools") // which it has
	w.spoil(func() { w.scopes = nil })
	if _, err := serverSays(t, w, k); !errors.As(err, &wanted) || asked != 0 {
		t.Errorf("%v, asked %d times", err, asked)
	}
	for _, scope := range []string{"a", "b", "c", "d", "e", "f"} {
		w.lacking(scope)
		_, err := serverSays(t, w, k)
		if tooOften := strings.Contains("def", scope); (err != nil) != tooOften || tooOften && !errors.As(err, &wanted) {
			t.Errorf("%s: %v", scope, err)
		}
	}
	if asked != 3 || wanted.Next() != "adze mcp login acme --scope 'tools a b c f'" {
		t.Errorf("asked %d times; %s", asked, wanted.Next())
	}
}

// Where nobody is there, or they do not agree, the call ends with the command for all scopes.
func TestNobodyAgreesToMoreScopes(t *testing.T) {
	for name, more := range map[string]func(context.Context, string, []string) bool{
		"nobody": nil, "they do not": func(context.Context, string, []string) bool { return false },
	} {
		w, d, _ := loggedIn(t, false)
		d.RequestScopes = more
		k := d.Handler(w.mcp())
		w.lacking("write")
		var wanted *LoginRequired
		if _, err := serverSays(t, w, k); !errors.As(err, &wanted) || wanted.Next() != "adze mcp login acme --scope 'tools write'" || len(w.scopes) != 1 {
			t.Errorf("%s: %v", name, err)
		}
		if k.Required() != nil {
			t.Errorf("%s: the conversation ends", name)
		}
	}
}

// What needs nobody is got with more scopes without a question.
func TestMoreScopesThatNeedNobody(t *testing.T) {
	w, k := alone(t, map[string]string{"grant": "client_credentials", "client_id": "me", "client_secret": "s", "scope": "read"})
	k.manager.RequestScopes = func(context.Context, string, []string) bool { t.Error("somebody is asked"); return false }
	w.spoil(func() {
		w.spare["/mcp"] = func(rw http.ResponseWriter, r *http.Request) {
			switch n := len(w.forms); {
			case n == 0 || r.Header.Get("Authorization") != "Bearer "+w.valid:
				rw.Header().Set("WWW-Authenticate", "Bearer")
				rw.WriteHeader(http.StatusUnauthorized)
			case !strings.Contains(w.forms[n-1].Get("scope"), "write"):
				rw.Header().Set("WWW-Authenticate", `Bearer error="insufficient_scope", scope="write"`)
				rw.WriteHeader(http.StatusForbidden)
			}
		}
	})
	if status, err := serverSays(t, w, k); status != 403 || err != nil { // each refusal is followed once a request
		t.Fatal(status, err)
	}
	if status, err := serverSays(t, w, k); status != 200 || err != nil || w.forms[1].Get("scope") != "read write" {
		t.Fatal(status, err, w.forms)
	}
}

// A login that a server wants for some requests alone does not end a conversation without one, and
// is not forgotten by the next request that is sent without it.
func TestALoginForSomeRequestsAlone(t *testing.T) {
	w := newWorld(t, false)
	d, _ := w.desk(t)
	k := d.Handler(w.mcp())
	if _, err := serverSays(t, w, k); err == nil {
		t.Fatal("no error")
	}
	if _, err := k.TokenSource(t.Context()); err != nil || k.Required() == nil {
		t.Errorf("it is forgotten: %v", err)
	}
	w.spoil(func() {
		w.spare["/mcp"] = func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusOK) }
	})
	c := remote.Client(w.mcp().URL, nil)
	c.Transport = k.Watch(c.Transport)
	resp, err := c.Post(w.mcp().URL.String(), "application/json", strings.NewReader("{}"))
	if err != nil || k.Required() != nil {
		t.Fatalf("%v, %v", err, k.Required())
	}
	resp.Body.Close()
}
