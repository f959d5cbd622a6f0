package serve

import (
	"crypto/rand"
	"embed"
	"encoding/base64"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
)

// The page consists of the files in the folder page, without a build step or external resources.
// Its policy allows only its own scripts and style sheets, by a new nonce each time. Text becomes
// markup only in page/html.js, which accepts just the elements of package hypertext.

//go:embed page
var pageFiles embed.FS

const index = "page/index.html"

// page sends the page with its content security policy.
func page(w http.ResponseWriter, _ *http.Request) {
	var b [16]byte
	_, _ = rand.Read(b[:]) // crypto/rand.Read never fails since Go 1.24
	nonce := base64.RawStdEncoding.EncodeToString(b[:])
	w.Header().Set("Content-Security-Policy", "default-src 'none'; script-src 'nonce-"+nonce+"'; style-src 'nonce-"+nonce+"'; connect-src 'self'; img-src data:; "+
		"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types adze")
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	text, err := fs.ReadFile(pageFiles, index)
	if err != nil {
		refuse(w, err)
		return
	}
	_, _ = strings.NewReplacer("NONCE", nonce).WriteString(w, string(text)) // the browser may be gone
}

// asset sends a script or style sheet. They contain no user data.
func asset(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("file")
	kind := map[string]string{".js": "text/javascript; charset=utf-8", ".css": mime.TypeByExtension(".css")}[path.Ext(name)]
	text, err := fs.ReadFile(pageFiles, "page/"+name)
	if err != nil || kind == "" {
		refuse(w, &refusal{http.StatusNotFound, "no such place"})
		return
	}
	w.Header().Set("Content-Type", kind)
	_, _ = w.Write(text) // the browser may be gone
}
