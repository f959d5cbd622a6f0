// Package proxy carries the connections of a command without a network of its own: the only way out
// of a sandbox.
//
// The one rule: a connection is carried only after its host and port, in canonical form, were
// approved, and through [Config.Dial], which resolves and judges the address itself. A client's
// input is parsed once, here, and never forwarded as text. A name that two parsers could read
// differently is refused.
//
// Start reading at target.go, which parses targets. Clients use HTTP: CONNECT and absolute
// addresses (http.go). Requests for the same target share one decision, which holds for the
// server's life, that is one command.
//
// Known limits: a CONNECT tunnel carries any bytes, so a command can send anything to an allowed
// host, and reach the other hosts behind it by a name in TLS or a header (fronting). Names are
// approved, not addresses: the decision holds for every address that the dialler allows. UDP is not
// carried. Programs that ignore the proxy variables (Java, most database clients, ssh) or support
// only SOCKS get no connection.
package proxy

import (
	"context"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"
)

// Limits of one server, for one command.
const (
	MaxConnections = 256              // at once; more wait
	MaxTargets     = 1024             // different hosts and ports; more are refused
	headTime       = 30 * time.Second // for a client's request head
	idleTime       = time.Minute      // between two plain requests of one client
	maxHead        = 64 << 10         // bytes of a request line with headers
)

// Target is a connection's destination: a host as spelled by [Config.Canonical], and a port.
type Target struct {
	Host string
	Port uint16
}

func (t Target) String() string { return net.JoinHostPort(t.Host, strconv.Itoa(int(t.Port))) }

// Config holds a server's callbacks.
type Config struct {
	// Canonical returns a host's only valid spelling, or an error for an invalid host.
	Canonical func(host string) (string, error)
	// Ask returns nil if a target may be reached. It may wait for a user. It is called once per
	// target.
	Ask func(ctx context.Context, to Target) error
	// Dial connects to an allowed target. It resolves the name and judges the addresses.
	Dial func(ctx context.Context, to Target) (net.Conn, error)
}

// Server carries connections until it is closed.
type Server struct {
	config Config
	ctx    context.Context
	cancel context.CancelFunc
	slots  chan struct{} // one value for each connection
	web    *http.Server

	mutex   sync.Mutex
	answers map[Target]chan error // holds the answer once it is known
	carried []Traffic
	refused []Refusal
	closed  bool
	running sync.WaitGroup
}

// New returns a server that is idle until [Server.Serve].
func New(c Config) *Server {
	s := &Server{config: c, slots: make(chan struct{}, MaxConnections), answers: map[Target]chan error{}}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.web = s.newWeb()
	return s
}

// Close ends every connection and waits for all tasks.
func (s *Server) Close() {
	s.mutex.Lock()
	s.closed = true
	s.mutex.Unlock()
	s.cancel()
	s.web.Close()
	s.running.Wait()
}

// Traffic counts one target's finished connections and their bytes.
type Traffic struct {
	Target         Target
	Connections    int
	Sent, Received int64 // to and from the target
}

// Refusal is a refused target.
type Refusal struct {
	Target      Target
	DialRefused bool   // allowed, but refused by the dialler for its address
	Reason      string // one sentence
}

// Report lists the carried and the refused targets, each once, in order of their requests.
func (s *Server) Report() ([]Traffic, []Refusal) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return slices.Clone(s.carried), slices.Clone(s.refused)
}

// carry counts a finished connection.
func (s *Server) carry(to Target, sent, received int64) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	i := slices.IndexFunc(s.carried, func(t Traffic) bool { return t.Target == to })
	if i < 0 {
		i = len(s.carried)
		s.carried = append(s.carried, Traffic{Target: to})
	}
	t := &s.carried[i]
	t.Connections, t.Sent, t.Received = t.Connections+1, t.Sent+sent, t.Received+received
}

func (s *Server) refuse(to Target, barred bool, why error) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	known := slices.ContainsFunc(s.refused, func(r Refusal) bool { return r.Target == to && r.DialRefused == barred })
	if !known && len(s.refused) < MaxTargets {
		s.refused = append(s.refused, Refusal{to, barred, why.Error()})
	}
	return &refusal{to, why}
}

// Environment returns variables, as NAME=value, that point programs to a proxy at address. Only
// localhost, the command's own network, is reached directly. Node needs one more variable to use
// them.
func Environment(address string) []string {
	web, none := "http://"+address, "localhost,127.0.0.1,::1"
	return []string{
		"HTTP_PROXY=" + web, "http_proxy=" + web, "HTTPS_PROXY=" + web, "https_proxy=" + web,
		"ALL_PROXY=" + web, "all_proxy=" + web, "NO_PROXY=" + none, "no_proxy=" + none,
		"NODE_USE_ENV_PROXY=1",
	}
}
