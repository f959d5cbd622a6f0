package serve

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/net/netutil"

	"adze/internal/text/usage"
)

const (
	tokenBytes = 32 // 256 bits
	// Path is where the protocol is spoken.
	Path = "/mcp"

	maxBody      = 4 << 20          // of a request, in bytes
	readTime     = 30 * time.Second // that it may take to come
	writeTime    = 15 * time.Second // that a reader may take for one write
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

// Token makes a secret that lets a client in.
func Token() string {
	raw := make([]byte, tokenBytes)
	_, _ = rand.Read(raw) // it never fails
	return hex.EncodeToString(raw)
}

// TokenFile reads the token from a file that only its owner may read, and makes both where there is
// none.
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

// HTTP serves all who know the token, at Path of the listener, until ctx ends; then nothing that
// they began runs any more.
func (s *Server) HTTP(ctx context.Context, l net.Listener, token string) error {
	defer s.Close()
	addr := l.Addr().(*net.TCPAddr)
	names := map[string]bool{addr.String(): true, fmt.Sprintf("localhost:%d", addr.Port): true}
	server := &http.Server{
		Handler:           &guard{names: names, token: sha256.Sum256([]byte(token)), next: s.newDoor()},
		ReadHeaderTimeout: readTime, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	over := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(over)
		s.Close() // first, so that the streams end by themselves
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

// guard lets nobody pass but who knows the token, and no page of a browser: what reaches a loopback
// address is not thereby meant by the user.
type guard struct {
	names map[string]bool // as this server may be called: host:port
	token [sha256.Size]byte
	next  http.Handler
}

func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	switch {
	case !g.names[strings.ToLower(r.Host)]:
		http.Error(w, "this is not the host that was asked for", http.StatusForbidden)
	case !g.own(r.Header.Values("Origin")):
		http.Error(w, "pages of other origins may not ask", http.StatusForbidden)
	case foreignSite(r.Header.Values("Sec-Fetch-Site")):
		http.Error(w, "pages of other sites may not ask", http.StatusForbidden)
	case !g.knows(r.Header.Values("Authorization")):
		w.Header().Set("WWW-Authenticate", `Bearer realm="adze"`)
		http.Error(w, "the token is missing or wrong: send it as Authorization: Bearer TOKEN", http.StatusUnauthorized)
	case r.URL.Path != Path:
		http.Error(w, "there is only "+Path, http.StatusNotFound)
	default:
		g.next.ServeHTTP(w, r)
	}
}

// own reports whether a request comes from no page, or from one of this very server.
func (g *guard) own(origins []string) bool {
	for _, o := range origins {
		if host, plain := strings.CutPrefix(strings.ToLower(o), "http://"); !plain || !g.names[host] {
			return false
		}
	}
	return true
}

// foreignSite reads what browsers say of where a request comes from.
func foreignSite(values []string) bool {
	for _, v := range values {
		if v != "same-origin" && v != "none" {
			return true
		}
	}
	return false
}

// knows compares in a time that tells nothing.
func (g *guard) knows(values []string) bool {
	if len(values) != 1 {
		return false
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	got := sha256.Sum256([]byte(strings.TrimSpace(token)))
	return subtle.ConstantTimeCompare(got[:], g.token[:]) == 1 && strings.EqualFold(scheme, "bearer")
}

// door bounds what a request may take, and knows who is there.
type door struct {
	server          *Server
	session, single http.Handler // for clients with a session, and since 2026-07-28
	present         *presence
}

func (s *Server) newDoor() *door {
	one := func(*http.Request) *mcp.Server { return s.sdk }
	return &door{
		server:  s,
		session: mcp.NewStreamableHTTPHandler(one, &mcp.StreamableHTTPOptions{MaxRequestBodyBytes: maxBody}),
		single:  mcp.NewStreamableHTTPHandler(one, &mcp.StreamableHTTPOptions{Stateless: true, MaxRequestBodyBytes: maxBody, PropagateRequestCancellation: true}),
		present: &presence{server: s, there: map[string]*visit{}},
	}
}

// postHeader ties a call to its request, whose end the SDK does not tell. Whatever a client sends
// in it is replaced.
const postHeader = "Adze-Post"

func (d *door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(readTime))
	body, ok := d.body(w, r)
	if !ok {
		return
	}
	_ = control.SetReadDeadline(time.Time{})
	r.Body = io.NopCloser(bytes.NewReader(body))
	session := r.Header.Get("Mcp-Session-Id")
	if !d.versioned(w, r, session) {
		return
	}
	modern := r.Header.Get("Mcp-Protocol-Version") >= modernProtocol
	if session == "" && !modern && d.server.sessions() >= mostSessions {
		http.Error(w, "too many clients are here", http.StatusServiceUnavailable)
		return
	}
	post := rand.Text()
	r.Header.Set(postHeader, post)
	defer d.server.posted(post, r.Context())()
	out := &reply{patient: patient{ResponseWriter: w, control: control}, asked: map[string]*pending{}}
	all, _ := heads(body)
	for _, h := range all {
		if h.call() {
			out.asked[string(h.ID)] = &pending{method: h.Method}
		}
		if h.Method == cancelled && session != "" {
			d.present.takenBack(session, string(h.Params.RequestID))
		}
	}
	if modern {
		d.single.ServeHTTP(out, r)
		return
	}
	if r.Method == http.MethodDelete {
		d.server.dropSession(session) // the SDK waits for what runs
	}
	if session == "" { // the SDK says in the answer which one it is
		defer func() { d.present.enter(w.Header().Get("Mcp-Session-Id"), r.Method, out)() }()
	} else {
		defer d.present.enter(session, r.Method, out)()
	}
	d.session.ServeHTTP(out, r)
}

// body reads a request; if false, it is answered. One that is too long is answered with its id.
func (d *door) body(w http.ResponseWriter, r *http.Request) (body []byte, ok bool) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err == nil && len(body) <= maxBody {
		return body, true
	}
	why := fmt.Sprintf("the body was not read: a message has at most %d MiB, and %s to come", maxBody>>20, readTime)
	id := &idFinder{}
	id.see(body)
	rest, more := make([]byte, 64<<10), 0
	for n := 0; err == nil && more < mostIgnored; more += n {
		n, err = r.Body.Read(rest)
		id.see(rest[:n])
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusRequestEntityTooLarge)
	_, _ = w.Write(refusal(id.found(), jsonrpc.CodeInvalidRequest, why))
	return nil, false
}

// mostIgnored is how much of a message that is too long is read, to find its id.
const mostIgnored = 64 << 20

// versioned holds a session to the protocol that was agreed with it: a request that names none is
// one of that, and one that names another is refused.
func (d *door) versioned(w http.ResponseWriter, r *http.Request, session string) bool {
	agreed := d.present.version(session)
	switch said := r.Header.Get("Mcp-Protocol-Version"); {
	case agreed == "" || said == agreed:
	case said == "":
		r.Header.Set("Mcp-Protocol-Version", agreed)
	default:
		http.Error(w, "this session speaks the protocol "+agreed, http.StatusBadRequest)
		return false
	}
	return true
}

// reply passes on what answers a request of HTTP, but for the answer to what was taken back.
type reply struct {
	patient
	mu      sync.Mutex
	asked   map[string]*pending
	version string
}

// takenBack leaves a request without an answer.
func (w *reply) takenBack(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if a := w.asked[id]; a != nil && a.method != "initialize" {
		a.drop = true
	}
}

// agreed is the protocol that was agreed in the answer; if empty, none was.
func (w *reply) agreed() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.version
}

// Write passes on a message, or an event with one, which the SDK writes in one piece.
func (w *reply) Write(b []byte) (int, error) {
	text := b
	if _, data, event := bytes.Cut(b, []byte("data: ")); event {
		text = data
	}
	w.mu.Lock()
	drop := false
	all, _ := heads(text)
	for _, h := range all {
		if a := w.asked[string(h.ID)]; a != nil && h.answer() {
			drop = a.drop
			if a.method == "initialize" {
				w.version = h.Result.Version
			}
		}
	}
	w.mu.Unlock()
	if drop {
		return len(b), nil
	}
	return w.patient.Write(b)
}

// patient gives a reader some time for each write. One that stands still loses the connection, and
// holds up nobody else.
type patient struct {
	http.ResponseWriter
	control *http.ResponseController
}

func (p *patient) Write(b []byte) (int, error) {
	_ = p.control.SetWriteDeadline(time.Now().Add(writeTime))
	return p.ResponseWriter.Write(b)
}

func (p *patient) FlushError() error {
	_ = p.control.SetWriteDeadline(time.Now().Add(writeTime))
	return p.control.Flush()
}

// Flush is what the SDK looks for.
func (p *patient) Flush() { _ = p.FlushError() }

// Unwrap lets a response controller through.
func (p *patient) Unwrap() http.ResponseWriter { return p.ResponseWriter }
