package serve

import (
	"crypto/subtle"
	"mime"
	"net/http"
	"path"
	"strings"

	"adze/internal/editors/pairing"
)

// maxBody bounds a request. The AI SDK sends the whole conversation with each prompt, and all files
// that were ever in it.
const maxBody = 64 << 20

// door lets requests in. A page of another origin reaches a server on this machine, too: by its
// address, or by a name of its own that leads here. So the host must be exactly ours, the origin
// ours where a browser names one, and a body JSON, which no form sends; and whatever it is, it must
// know the token. Nothing tells a browser that another origin may read an answer.
func (s *Server) door(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
		why := s.bars(r)
		var device *pairing.Device
		if why == nil && s.visitors.from(r) && !public(r) {
			device, why = s.visitors.bars(r)
		}
		if why != nil {
			refuse(w, why)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		if device != nil {
			s.visitors.serve(w, r, device, next)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// bars says why a request is not let in; if nil, it is.
func (s *Server) bars(r *http.Request) *refusal {
	origins, far := r.Header.Values("Origin"), s.visitors.from(r)
	own := "http://" + r.Host
	if far {
		own = "https://" + r.Host
	}
	switch site := r.Header.Get("Sec-Fetch-Site"); {
	case far && (s.Far == nil || !s.Far.Hosts[r.Host]) || !far && r.Host != s.Host:
		return &refusal{http.StatusMisdirectedRequest, "this server has another name, and is nothing else"}
	case len(origins) > 1 || len(origins) == 1 && origins[0] != own:
		return &refusal{http.StatusForbidden, "a page of another origin has no business here"}
	case r.URL.RawPath != "" || path.Clean(r.URL.Path) != r.URL.Path:
		return &refusal{http.StatusNotFound, "no such place"}
	case !far && unpaired(r):
		return &refusal{http.StatusNotFound, "devices are paired at the address that adze serve pair shows"}
	case public(r) && r.Method != http.MethodPost:
		return nil
	case site != "" && site != "same-origin" && site != "none":
		return &refusal{http.StatusForbidden, "a page of another origin has no business here"}
	case !far && !s.knows(r):
		return &refusal{http.StatusUnauthorized, "the token is missing or wrong: open the address that adze serve printed"}
	case r.Method == http.MethodPost && !isJSON(r):
		return &refusal{http.StatusUnsupportedMediaType, "send application/json"}
	}
	return nil
}

// public are the places that need no token: they hold nothing that is anybody's.
func public(r *http.Request) bool {
	looks := r.Method == http.MethodGet || r.Method == http.MethodHead
	return looks && (r.URL.Path == "/" || strings.HasPrefix(r.URL.Path, "/page/")) || unpaired(r)
}

func (s *Server) knows(r *http.Request) bool {
	token, ok := bearer(r)
	return ok && s.Token != "" && subtle.ConstantTimeCompare([]byte(token), []byte(s.Token)) == 1
}

// bearer is the one token of a request.
func bearer(r *http.Request) (token string, ok bool) {
	all := r.Header.Values("Authorization")
	if len(all) != 1 {
		return "", false
	}
	return strings.CutPrefix(all[0], "Bearer ")
}

func isJSON(r *http.Request) bool {
	all := r.Header.Values("Content-Type")
	if len(all) != 1 {
		return false
	}
	kind, _, err := mime.ParseMediaType(all[0])
	return err == nil && kind == "application/json"
}
