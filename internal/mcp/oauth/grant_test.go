package oauth

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"math/big"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"adze/internal/mcp/remote"
)

// decoded is a part of a web token.
func decoded(t *testing.T, token string, part int) (out map[string]any) {
	t.Helper()
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		t.Fatalf("it is no token: %q", token)
	}
	raw, err := base64.RawURLEncoding.DecodeString(parts[part])
	if err != nil || json.Unmarshal(raw, &out) != nil {
		t.Fatalf("it is no token: %q", token)
	}
	return out
}

// verifies checks a signature with the public key, in the way of its algorithm.
func verifies(key crypto.PublicKey, algorithm, token string) bool {
	i := strings.LastIndexByte(token, '.')
	signature, err := base64.RawURLEncoding.DecodeString(token[i+1:])
	if err != nil {
		return false
	}
	text := []byte(token[:i])
	sum, sum384 := sha256.Sum256(text), sha512.Sum384(text)
	switch k := key.(type) {
	case ed25519.PublicKey:
		return algorithm == "EdDSA" && ed25519.Verify(k, text, signature)
	case *rsa.PublicKey:
		return algorithm == "RS256" && rsa.VerifyPKCS1v15(k, crypto.SHA256, sum[:], signature) == nil
	case *ecdsa.PublicKey:
		digest := sum[:]
		if algorithm == "ES384" {
			digest = sum384[:]
		}
		half := len(signature) / 2
		return ecdsa.Verify(k, digest, new(big.Int).SetBytes(signature[:half]), new(big.Int).SetBytes(signature[half:]))
	}
	return false
}

func pemOf(t *testing.T, key any) string {
	t.Helper()
	raw, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw}))
}

// alone is a world whose server's tokens need nobody, and a keeper for it.
func alone(t *testing.T, texts map[string]string) (*world, *Handler) {
	t.Helper()
	w := newWorld(t, true)
	texts["issuer"] = w.issuer.URL
	config, err := Read(texts)
	if err != nil {
		t.Fatal(err)
	}
	d, _ := w.desk(t)
	s := w.mcp()
	s.Config = config
	return w, d.Handler(s)
}

// A client with credentials of its own gets a token when the server first wants one, and a new one
// when that is refused; nothing of it is kept on disk.
func TestAClientWithASecretNeedsNobody(t *testing.T) {
	file := filepath.Join(t.TempDir(), "secret")
	for methods, texts := range map[string]map[string]string{
		"client_secret_basic": {"grant": "client_credentials", "client_id": "me", "client_secret": "s:e cret"},
		"client_secret_post":  {"grant": "client_credentials", "client_id": "me", "client_secret_file": file, "scope": "a b"},
	} {
		if err := os.WriteFile(file, []byte("s:e cret\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		w, k := alone(t, texts)
		w.meta["token_endpoint_auth_methods_supported"] = []string{methods}
		for range 2 {
			if status, err := serverSays(t, w, k); status != 200 || err != nil {
				t.Fatalf("%s: %d %v", methods, status, err)
			}
		}
		form, header := w.forms[0], w.headers[0]
		user, password, basic := (&http.Request{Header: header}).BasicAuth()
		switch methods {
		case "client_secret_basic":
			if password, _ := url.QueryUnescape(password); !basic || user != "me" || password != "s:e cret" || form.Get("client_secret") != "" {
				t.Errorf("%s: %v %v", methods, header, form)
			}
		default:
			if basic || form.Get("client_id") != "me" || form.Get("client_secret") != "s:e cret" || form.Get("scope") != "a b" {
				t.Errorf("%s: %v %v", methods, header, form)
			}
		}
		if form.Get("grant_type") != "client_credentials" || form.Get("resource") != w.server.URL+"/mcp" || len(w.forms) != 1 {
			t.Errorf("%s: %d requests, %v", methods, len(w.forms), form)
		}
		w.spoil(func() { w.valid = "revoked" })
		if err := os.WriteFile(file, []byte("another"), 0o600); err != nil { // it was changed meanwhile
			t.Fatal(err)
		}
		if status, err := serverSays(t, w, k); status != 200 || err != nil || len(w.forms) != 2 {
			t.Errorf("%s: %d %v after %d requests", methods, status, err, len(w.forms))
		}
		if texts["client_secret_file"] != "" && w.forms[1].Get("client_secret") != "another" {
			t.Errorf("the file is not read anew: %v", w.forms[1])
		}
		if has, _ := k.manager.Store.List(); len(has) > 0 || strings.Contains(w.paths(), "/authorize") || strings.Contains(w.paths(), "/register") {
			t.Errorf("%s: kept %v, asked %s", methods, has, w.paths())
		}
	}
}

// A client with a key shows who it is by a token that the issuer can check; the key stays here.
func TestAClientWithAKeyNeedsNobody(t *testing.T) {
	_, ed, _ := ed25519.GenerateKey(rand.Reader)
	rsaKey, _ := rsa.GenerateKey(rand.Reader, 2048)
	es256, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	es384, _ := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	for name, c := range map[string]struct {
		key  crypto.Signer
		want string
	}{"EdDSA": {ed, ""}, "RS256": {rsaKey, ""}, "ES256": {es256, "ES256"}, "ES384": {es384, ""}} {
		w, k := alone(t, map[string]string{"grant": "client_credentials", "client_id": "me", "private_key": pemOf(t, c.key), "private_key_id": "k1", "signing_algorithm": c.want})
		if status, err := serverSays(t, w, k); status != 200 || err != nil {
			t.Fatalf("%s: %d %v", name, status, err)
		}
		form := w.forms[0]
		signed := form.Get("client_assertion")
		head, claims := decoded(t, signed, 0), decoded(t, signed, 1)
		if head["alg"] != name || head["kid"] != "k1" || !verifies(c.key.Public(), name, signed) {
			t.Errorf("%s: %v is signed otherwise", name, head)
		}
		if claims["iss"] != "me" || claims["sub"] != "me" || claims["aud"] != w.issuer.URL || claims["jti"] == "" || claims["exp"].(float64) <= claims["iat"].(float64) {
			t.Errorf("%s: %v", name, claims)
		}
		if form.Get("client_assertion_type") != jwtAssertion || strings.Contains(form.Encode(), "PRIVATE") {
			t.Errorf("%s: %v", name, form)
		}
	}
	for what, text := range map[string]string{"cannot be read": "no key", "does not sign with": pemOf(t, es256)} {
		w, k := alone(t, map[string]string{"grant": "client_credentials", "client_id": "me", "private_key": text, "signing_algorithm": "RS256"})
		var own *remote.Error
		if _, err := serverSays(t, w, k); !errors.As(err, &own) || !strings.Contains(own.Message, what) || len(w.forms) > 0 {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// The token of a workload is handed in once; a refusal is told, and no other way is tried.
func TestATokenOfAWorkloadIsHandedInOnce(t *testing.T) {
	w, k := alone(t, map[string]string{"grant": "jwt_bearer", "assertion": "workload-token"})
	if status, err := serverSays(t, w, k); status != 200 || err != nil || w.forms[0].Get("grant_type") != jwtBearerGrant || w.forms[0].Get("assertion") != "workload-token" {
		t.Fatalf("%d %v %v", status, err, w.forms)
	}
	for code, says := range map[string]string{"invalid_client": "does not take this client", "invalid_scope": "does not give the scopes", "invalid_grant": "refuses", "unauthorized_client": "does not take this client"} {
		w, k := alone(t, map[string]string{"grant": "jwt_bearer", "assertion": "workload-token"})
		w.token = func(url.Values) (int, string) {
			return 400, `{"error":"` + code + `","error_description":"\u001b[31mx"}`
		}
		var own *remote.Error
		if _, err := serverSays(t, w, k); !errors.As(err, &own) || !strings.Contains(own.Message, says) || own.Hint == "" || strings.Contains(own.Message, "\x1b") {
			t.Errorf("%s: %v", code, err)
		}
		if len(w.forms) != 1 {
			t.Errorf("%s: asked %d times", code, len(w.forms))
		}
	}
}

// What a configuration lacks is named before anybody is asked.
func TestAConfigurationThatLacksSomething(t *testing.T) {
	for says, texts := range map[string]map[string]string{
		`no "secret"`:      {"secret": "x"},
		"client_id":        {"grant": "client_credentials", "client_secret": "x"},
		"client_secret":    {"grant": "client_credentials", "client_id": "x"},
		"assertion_file":   {"grant": "jwt_bearer"},
		"needs oauth.":     {"grant": "token_exchange", "client_id": "x"},
		"oauth.grant is":   {"grant": "password"},
		"oauth.issuer":     {"issuer": "issuer.example"},
		"client_metadata ": {"client_metadata": "http://a.example/client.json"},
		"the address of":   {"client_metadata": "https://a.example/"},
	} {
		if _, err := Read(texts); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v: %v, want %q", texts, err, says)
		}
	}
}

// A document about the client takes the place of registering it, where the issuer knows such.
func TestADocumentAboutTheClient(t *testing.T) {
	const document = "https://adze.example/client.json"
	for _, known := range []bool{true, false} {
		w := newWorld(t, false)
		w.meta["client_id_metadata_document_supported"] = known
		if known {
			w.client = document
		}
		d, _ := w.desk(t)
		k, _, err := d.Login(t.Context(), w.mcp(), Options{Metadata: document})
		if err != nil || k.Client != w.client || k.Secret != "" || strings.Contains(w.paths(), "/register") == known {
			t.Errorf("known %t: %+v, %v; asked %s", known, k, err, w.paths())
		}
	}
	w := newWorld(t, false)
	w.meta["client_id_metadata_document_supported"] = true
	delete(w.meta, "registration_endpoint")
	d, _ := w.desk(t)
	var own *remote.Error
	if _, _, err := d.Login(t.Context(), w.mcp(), Options{}); !errors.As(err, &own) || !strings.Contains(own.Hint, "--client-metadata") {
		t.Error(err)
	}
}

// A client that the user registered is used again by the next login, at the same issuer alone.
func TestAClientThatWasBroughtIsUsedAgain(t *testing.T) {
	w := newWorld(t, true)
	w.client = "mine"
	d, _ := w.desk(t)
	if _, _, err := d.Login(t.Context(), w.mcp(), Options{Issuer: w.issuer.URL, Client: "mine", Secret: "s"}); err != nil {
		t.Fatal(err)
	}
	if k, _, err := d.Login(t.Context(), w.mcp(), Options{}); err != nil || k.Client != "mine" || k.Secret != "s" {
		t.Errorf("%+v, %v", k, err)
	}
	other := newWorld(t, true)
	w.spoil(func() { w.resource["authorization_servers"] = []string{other.issuer.URL} })
	other.resource = nil
	other.token = func(url.Values) (int, string) { return 200, `{"access_token":"a","token_type":"bearer"}` }
	k, _, err := d.Login(t.Context(), w.mcp(), Options{Issuer: other.issuer.URL})
	if err != nil || k.Client != "c1" || slices.ContainsFunc(other.forms, func(f url.Values) bool { return strings.Contains(f.Encode(), "mine") }) {
		t.Errorf("%+v, %v", k, err)
	}
}
