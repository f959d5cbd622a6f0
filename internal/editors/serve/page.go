package serve

import (
	"crypto/rand"
	_ "embed"
	"encoding/base64"
	"net/http"
	"strings"
)

// The page is one file: no build step, nothing from elsewhere. Its policy lets only its own script
// and style run, which carry a number that is new each time, and lets no text become markup.

//go:embed page.html
var pageText string

// pairText is the page that a device opens to be paired.
//
//go:embed pair.html
var pairText string

func (s *Server) page(w http.ResponseWriter, _ *http.Request)     { show(w, pageText) }
func (s *Server) pairPage(w http.ResponseWriter, _ *http.Request) { show(w, pairText) }

// show sends a page, with the policy that only its own script and style run.
func show(w http.ResponseWriter, text string) {
	var b [16]byte
	_, _ = rand.Read(b[:]) // crypto/rand.Read never fails since Go 1.24
	nonce := base64.RawStdEncoding.EncodeToString(b[:])
	w.Header().Set("Content-Security-Policy", "default-src 'none'; script-src 'nonce-"+nonce+"'; style-src 'nonce-"+nonce+"'; connect-src 'self'; img-src data:; "+
		"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'")
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = strings.NewReplacer("NONCE", nonce).WriteString(w, text) // who is gone does not read it
}
