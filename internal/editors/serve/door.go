package serve

import (
	"crypto/subtle"
	"mime"
	"net/http"
	"path"
	"strings"
)

// maxBody limits a request's body. The AI SDK sends the whole conversation with each prompt,
// including all its files.
const maxBody = 64 << 20

// door admits requests. Pages of other origins can reach a local server too: by its address, or by
// a DNS name that resolves to it. So the host must be ours or the user's tunnel, a browser's origin
// must match the host, and a body must be JSON, which forms cannot send. Every request needs the
// token. No CORS header lets other origins read a response.
func (s *Server) door(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
		if why := s.bars(r); why != nil {
			refuse(w, why)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		next.ServeHTTP(w, r)
	})
}

// bars returns the reason to refuse a request, or nil.
func (s *Server) bars(r *http.Request) *refusal {
	origins, own := r.Header.Values("Origin"), "http://"+r.Host
	if s.Names[r.Host] {
		own = "https://" + r.Host
	}
	switch site := r.Header.Get("Sec-Fetch-Site"); {
	case r.Host != s.Host && !s.Names[r.Host]:
		return &refusal{http.StatusMisdirectedRequest, "this server has another name; adze serve --name gives it the name of a tunnel"}
	case len(origins) > 1 || len(origins) == 1 && origins[0] != own:
		return &refusal{http.StatusForbidden, "a page of another origin has no business here"}
	case r.URL.RawPath != "" || path.Clean(r.URL.Path) != r.URL.Path:
		return &refusal{http.StatusNotFound, "no such place"}
	case (r.Method == http.MethodGet || r.Method == http.MethodHead) && (r.URL.Path == "/" || strings.HasPrefix(r.URL.Path, "/page/")):
		return nil // contains no user data
	case site != "" && site != "same-origin" && site != "none":
		return &refusal{http.StatusForbidden, "a page of another origin has no business here"}
	case !s.knows(r):
		return &refusal{http.StatusUnauthorized, "the token is missing or wrong: open the address that adze serve printed"}
	case r.Method == http.MethodPost && !isJSON(r):
		return &refusal{http.StatusUnsupportedMediaType, "send application/json"}
	}
	return nil
}

func (s *Server) knows(r *http.Request) bool {
	all := r.Header.Values("Authorization")
	if len(all) != 1 {
		return false
	}
	token, ok := strings.CutPrefix(all[0], "Bearer ")
	return ok && s.Token != "" && subtle.ConstantTimeCompare([]byte(token), []byte(s.Token)) == 1
}

func isJSON(r *http.Request) bool {
	all := r.Header.Values("Content-Type")
	if len(all) != 1 {
		return false
	}
	kind, _, err := mime.ParseMediaType(all[0])
	return err == nil && kind == "application/json"
}
