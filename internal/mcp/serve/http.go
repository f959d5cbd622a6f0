package serve

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/net/netutil"

	"adze/internal/text/usage"
)

const (
	tokenBytes = 32 // 256 bits
	// Path is the endpoint's path.
	Path = "/mcp"

	maxBody      = 4 << 20          // request body, in bytes
	headerTime   = 30 * time.Second // time to receive a request's header
	mostConns    = 128
	mostSessions = 64
)

// Listen opens an address on this machine, such as :7070 or :0.
func Listen(addr string) (net.Listener, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, usage.Mistake("--http :7070, or :0 for any free port", "--http: %v", err)
	}
	if host == "" || host == "localhost" {
		host = "127.0.0.1"
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return nil, usage.Mistake("--http :7070; for others, forward the port with ssh", "--http %s: the tools are offered on this machine alone", addr)
	}
	l, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, usage.Mistake("choose another port, or :0 for any that is free", "--http: %v", err)
	}
	return l, nil
}

// Token returns a new random token for clients.
func Token() string {
	raw := make([]byte, tokenBytes)
	_, _ = rand.Read(raw) // it never fails
	return hex.EncodeToString(raw)
}

// TokenFile reads the token from a file that only its owner can read. It creates both if the file
// is missing.
func TokenFile(path string) (string, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		token := Token()
		_, err = f.WriteString(token + "\n")
		return token, errors.Join(err, f.Close())
	}
	if !errors.Is(err, os.ErrExist) {
		return "", usage.Mistake("name a file in a folder that exists", "--token-file: %v", err)
	}
	info, err := os.Stat(path)
	if err == nil && (info.Mode().Perm()&0o077 != 0 || !info.Mode().IsRegular()) {
		return "", usage.Mistake("chmod 600 "+path, "--token-file: others may read %s", path)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return "", usage.Mistake("check the file", "--token-file: %v", err)
	}
	token := strings.TrimSpace(string(raw))
	if len(token) < 2*tokenBytes || strings.ContainsAny(token, " \t\r\n") {
		return "", usage.Mistake("remove the file, and adze makes one with a token", "--token-file: %s holds no token of %d characters", path, 2*tokenBytes)
	}
	return token, nil
}

// HTTP serves clients with the token at the listener's Path until ctx ends. All their calls have
// ended when it returns.
func (s *Server) HTTP(ctx context.Context, l net.Listener, token string) error {
	defer s.Close()
	addr := l.Addr().(*net.TCPAddr)
	names := map[string]bool{addr.String(): true, fmt.Sprintf("localhost:%d", addr.Port): true}
	server := &http.Server{
		Handler:           &guard{names: names, next: bearers(token, s.handler())},
		ReadHeaderTimeout: headerTime, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	over := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(over)
		s.Close() // first, so that the streams end
		_ = server.Close()
	})
	err := server.Serve(netutil.LimitListener(l, mostConns))
	if !stop() {
		<-over
		return context.Cause(ctx)
	}
	_ = server.Close()
	return err
}

// handler is the SDK's, for clients with a session and for newer ones (2026-07-28), which have
// none.
func (s *Server) handler() http.Handler {
	one := func(*http.Request) *mcp.Server { return s.sdk }
	sessions := mcp.NewStreamableHTTPHandler(one, &mcp.StreamableHTTPOptions{MaxRequestBodyBytes: maxBody, SessionTimeout: s.idle})
	single := mcp.NewStreamableHTTPHandler(one, &mcp.StreamableHTTPOptions{Stateless: true, MaxRequestBodyBytes: maxBody, PropagateRequestCancellation: true})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		session := r.Header.Get("Mcp-Session-Id")
		switch {
		case r.URL.Path != Path:
			http.Error(w, "there is only "+Path, http.StatusNotFound)
			return
		case r.Header.Get("Mcp-Protocol-Version") >= modernProtocol:
			single.ServeHTTP(w, r)
			return
		case session == "" && s.sessions() >= mostSessions:
			http.Error(w, "too many clients are here", http.StatusServiceUnavailable)
			return
		case r.Method == http.MethodDelete:
			for one := range s.sdk.Sessions() { // the SDK waits for running requests
				if session != "" && one.ID() == session {
					s.drop(one)
				}
			}
		}
		sessions.ServeHTTP(w, r)
	})
}

func (s *Server) sessions() (n int) {
	for range s.sdk.Sessions() {
		n++
	}
	return n
}

// bearers requires the token. It stores each request's context in what the SDK hands to its calls:
// the SDK does not report the end of a request for clients with a session.
func bearers(token string, next http.Handler) http.Handler {
	want := sha256.Sum256([]byte(token))
	verify := func(ctx context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
		if got := sha256.Sum256([]byte(token)); subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
			return nil, fmt.Errorf("%w: send the one of adze mcp serve as Authorization: Bearer TOKEN", auth.ErrInvalidToken)
		}
		return &auth.TokenInfo{Scopes: scopes, Extra: map[string]any{"request": ctx}}, nil
	}
	return auth.RequireBearerToken(verify, &auth.RequireBearerTokenOptions{Scopes: scopes, AllowMissingExpiration: true})(next)
}

// scopes make a refusal name its scheme, as HTTP demands.
var scopes = []string{"tools"}

// withRequest returns a context that ends with the call's HTTP request, after which nobody gets the
// response.
func withRequest(ctx context.Context, r *mcp.CallToolRequest) (context.Context, func()) {
	if r.Extra == nil || r.Extra.TokenInfo == nil {
		return ctx, func() {}
	}
	request, _ := r.Extra.TokenInfo.Extra["request"].(context.Context)
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(request, func() { cancel(errLeft) })
	return ctx, func() { stop(); cancel(nil) }
}

// guard refuses browser pages: a request to a loopback address need not come from the user.
type guard struct {
	names map[string]bool // allowed values of Host: host:port
	pages http.CrossOriginProtection
	next  http.Handler
}

func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	switch {
	case !g.names[strings.ToLower(r.Host)]:
		http.Error(w, "this is not the host that was asked for", http.StatusForbidden)
	case g.pages.Check(r) != nil:
		http.Error(w, "pages of other origins may not ask", http.StatusForbidden)
	default:
		g.next.ServeHTTP(w, r)
	}
}
