package oauth

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// world is an MCP server and an authorization server on loopback, written for the tests. What it
// says can be spoiled.
type world struct {
	t      *testing.T
	server *httptest.Server // asks for a token
	issuer *httptest.Server // the same, or another origin

	mu       sync.Mutex
	resource map[string]any // what the server tells; if nil, nothing
	meta     map[string]any // what the issuer tells; if nil, nothing
	answer   func(redirect, state, code string) string
	token    func(form url.Values) (int, string)                     // nil: it is checked and given
	asked    []string                                                // paths at both
	forms    []url.Values                                            // at the token endpoint
	headers  []http.Header                                           // there, too
	scopes   []string                                                // that were asked for in the browser
	client   string                                                  // that is known there
	spare    map[string]func(w http.ResponseWriter, _ *http.Request) // other paths
	codes    map[string]string                                       // code to challenge
	valid    string                                                  // access token
	refresh  string
	expires  int
	granted  int
}

// other: the issuer is another origin than the server.
func newWorld(t *testing.T, other bool) *world {
	w := &world{t: t, codes: map[string]string{}, spare: map[string]func(http.ResponseWriter, *http.Request){}, expires: 3600, client: "c1"}
	w.server = httptest.NewServer(http.HandlerFunc(w.serve))
	t.Cleanup(w.server.Close)
	w.issuer = w.server
	if other {
		w.issuer = httptest.NewServer(http.HandlerFunc(w.serve))
		t.Cleanup(w.issuer.Close)
	}
	w.resource = map[string]any{"resource": w.server.URL + "/mcp", "authorization_servers": []string{w.issuer.URL}, "scopes_supported": []string{"tools"}}
	w.meta = map[string]any{"issuer": w.issuer.URL, "authorization_endpoint": w.issuer.URL + "/authorize", "token_endpoint": w.issuer.URL + "/token",
		"registration_endpoint": w.issuer.URL + "/register", "revocation_endpoint": w.issuer.URL + "/revoke",
		"code_challenge_methods_supported": []string{"S256"}, "authorization_response_iss_parameter_supported": true, "response_types_supported": []string{"code"}}
	w.answer = func(redirect, state, code string) string {
		return redirect + "?" + url.Values{"state": {state}, "code": {code}, "iss": {w.issuer.URL}}.Encode()
	}
	return w
}

func (w *world) serve(rw http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked = append(w.asked, r.URL.Path)
	if spare := w.spare[r.URL.Path]; spare != nil {
		spare(rw, r)
		return
	}
	switch path := r.URL.Path; {
	case path == "/mcp":
		if r.Header.Get("Authorization") != "Bearer "+w.valid || w.valid == "" {
			rw.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+w.server.URL+`/.well-known/oauth-protected-resource/mcp"`)
			rw.WriteHeader(http.StatusUnauthorized)
		}
	case strings.HasPrefix(path, "/.well-known/oauth-protected-resource/"):
		tell(rw, w.resource)
	case path == "/.well-known/oauth-authorization-server":
		tell(rw, w.meta)
	case path == "/register":
		var asked map[string]any
		_ = json.NewDecoder(r.Body).Decode(&asked)
		method, _ := asked["token_endpoint_auth_method"].(string)
		if all, limits := w.meta["token_endpoint_auth_methods_supported"].([]string); limits && !slices.Contains(all, method) {
			say(rw, http.StatusBadRequest, `{"error":"invalid_client_metadata"}`)
			return
		}
		given := map[string]any{"client_id": "c1", "token_endpoint_auth_method": method, "redirect_uris": []string{"http://127.0.0.1/callback"}}
		if method != "none" {
			given["client_secret"] = "client-secret-1"
		}
		rw.Header().Set("Content-Type", "application/json")
		rw.WriteHeader(http.StatusCreated)
		tell(rw, given)
	case path == "/authorize":
		q := r.URL.Query()
		if q.Get("code_challenge_method") != "S256" || q.Get("resource") == "" || q.Get("client_id") != w.client {
			w.t.Errorf("asked for a code with %v", q)
		}
		w.scopes = append(w.scopes, q.Get("scope"))
		w.codes["code1"] = q.Get("code_challenge")
		rw.Header().Set("Location", w.answer(q.Get("redirect_uri"), q.Get("state"), "code1"))
		rw.WriteHeader(http.StatusFound)
	case path == "/token":
		_ = r.ParseForm()
		w.forms, w.headers = append(w.forms, r.PostForm), append(w.headers, r.Header)
		say2 := w.give
		if w.token != nil {
			say2 = w.token
		}
		status, text := say2(r.PostForm)
		say(rw, status, text)
	default:
		rw.WriteHeader(http.StatusNotFound)
	}
}

// give checks what is asked at the token endpoint, and gives a token.
func (w *world) give(form url.Values) (int, string) {
	switch form.Get("grant_type") {
	case "authorization_code":
		sum := sha256.Sum256([]byte(form.Get("code_verifier")))
		if w.codes[form.Get("code")] != base64.RawURLEncoding.EncodeToString(sum[:]) || form.Get("resource") != w.server.URL+"/mcp" {
			return 400, `{"error":"invalid_grant"}`
		}
	case "refresh_token":
		if form.Get("refresh_token") != w.refresh || form.Get("resource") != w.server.URL+"/mcp" {
			return 400, `{"error":"invalid_grant"}`
		}
	case "client_credentials", jwtBearerGrant:
	default:
		return 400, `{"error":"unsupported_grant_type"}`
	}
	w.granted++
	w.valid, w.refresh = fmt.Sprintf("access-secret-%d", w.granted), fmt.Sprintf("refresh-secret-%d", w.granted)
	return 200, fmt.Sprintf(`{"access_token":%q,"refresh_token":%q,"token_type":"bearer","expires_in":%d}`, w.valid, w.refresh, w.expires)
}

func tell(rw http.ResponseWriter, what map[string]any) {
	if what == nil {
		rw.WriteHeader(http.StatusNotFound)
		return
	}
	rw.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(rw).Encode(what)
}

func say(rw http.ResponseWriter, status int, text string) {
	rw.Header().Set("Content-Type", "application/json")
	rw.WriteHeader(status)
	_, _ = rw.Write([]byte(text))
}

// spoil changes what it says while nobody asks.
func (w *world) spoil(change func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change()
}

func (w *world) paths() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.asked, " ")
}

// mcp is the server as it is configured.
func (w *world) mcp() Server {
	at, _ := url.Parse(w.server.URL + "/mcp")
	return Server{Name: "acme", URL: at}
}

// told is what a desk says to the user.
type told struct {
	mu    sync.Mutex
	lines []string
}

func (t *told) add(line string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lines = append(t.lines, line)
}

func (t *told) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Join(t.lines, "\n")
}

// desk is where a user sits who says yes to all, with a browser that follows where it is sent.
func (w *world) desk(t *testing.T) (Manager, *told) {
	said := &told{}
	return Manager{
		Store: Store{File: filepath.Join(t.TempDir(), "logins.json")},
		Print: said.add,
		Open: func(address string) error {
			go func() {
				if resp, err := http.Get(address); err == nil {
					resp.Body.Close()
				}
			}()
			return nil
		},
	}, said
}
