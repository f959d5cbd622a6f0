package oauth

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"net/http"
	"strings"
	"sync"
	"time"
)

// newProofKey makes the key that tokens of a login are bound to (DPoP, RFC 9449).
func newProofKey() (string, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", err
	}
	raw, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return "", err
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw})), nil
}

// proofTransport sends requests with a proof that whoever sends them has the key that their token
// is bound to. A server that wants a value of its own in the proof is asked once more with it.
type proofTransport struct {
	next http.RoundTripper
	key  crypto.Signer
	mu   sync.Mutex
	once map[string]string // the value that an origin wants, its nonce
}

func newProofTransport(next http.RoundTripper, pem string) (*proofTransport, error) {
	key, err := keyOf(pem)
	if next == nil {
		next = http.DefaultTransport
	}
	return &proofTransport{next: next, key: key, once: map[string]string{}}, err
}

// RoundTrip implements http.RoundTripper.
func (p *proofTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	sent, err := p.with(r)
	if err != nil {
		return nil, err
	}
	resp, err := p.next.RoundTrip(sent)
	if err != nil || !p.wants(resp) || r.Body != nil && r.GetBody == nil {
		return resp, err
	}
	resp.Body.Close()
	again := r.Clone(r.Context())
	if r.GetBody != nil {
		if again.Body, err = r.GetBody(); err != nil {
			return nil, err
		}
	}
	if again, err = p.with(again); err != nil {
		return nil, err
	}
	if resp, err = p.next.RoundTrip(again); err == nil {
		p.wants(resp) // for the next request
	}
	return resp, err
}

// wants remembers the value that a server wants in the next proof, and reports that it refused a
// request for want of it.
func (p *proofTransport) wants(resp *http.Response) bool {
	once := resp.Header.Get("DPoP-Nonce")
	if once == "" || len(once) > 1024 {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	known := p.once[resp.Request.URL.Host] == once
	p.once[resp.Request.URL.Host] = once
	return !known && (resp.StatusCode == http.StatusBadRequest || resp.StatusCode == http.StatusUnauthorized)
}

// with is a request with its proof.
func (p *proofTransport) with(r *http.Request) (*http.Request, error) {
	public := p.key.Public().(*ecdsa.PublicKey)
	point, err := public.ECDH()
	if err != nil {
		return nil, err
	}
	raw := point.Bytes() // 4, x, y
	at := *r.URL
	at.RawQuery, at.Fragment, at.RawFragment, at.User = "", "", "", nil
	claims := map[string]any{"jti": rand.Text(), "htm": r.Method, "htu": at.String(), "iat": time.Now().Unix()}
	sent := r.Clone(r.Context())
	if access := bearer(r); access != "" {
		claims["ath"] = digest(access)
		sent.Header.Set("Authorization", "DPoP "+access)
	}
	p.mu.Lock()
	if once := p.once[r.URL.Host]; once != "" {
		claims["nonce"] = once
	}
	p.mu.Unlock()
	size := (len(raw) - 1) / 2
	proof, err := token(p.key, "", map[string]any{"typ": "dpop+jwt", "jwk": map[string]string{
		"kty": "EC", "crv": "P-256", "x": base64.RawURLEncoding.EncodeToString(raw[1 : 1+size]), "y": base64.RawURLEncoding.EncodeToString(raw[1+size:]),
	}}, claims)
	if err != nil {
		return nil, err
	}
	sent.Header.Set("DPoP", proof)
	return sent, nil
}

// bearer is the token that a request was sent with.
func bearer(r *http.Request) string {
	kind, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if strings.EqualFold(kind, "Bearer") || strings.EqualFold(kind, "DPoP") {
		return token
	}
	return ""
}
