// Package proxy carries the connections of a command that has no network of its own: the one door
// out of a sandbox.
//
// The one rule: a connection is carried only after its host and port, in their one spelling, were
// asked for, and it goes where [Config.Dial] leads, which resolves and judges the address itself.
// What a client wrote is read once, by this package, and never handed on as text: a name that two
// parsers could read in two ways is refused.
//
// Where to start: target.go, what is asked and dialled. Programs speak HTTP to it: CONNECT and
// absolute addresses (http.go). Who asks for a target that is being asked for already waits for the
// same answer (answers.go), and an answer holds for as long as the server, which is one command.
//
// Known limits: inside a CONNECT tunnel any bytes pass: who may reach a host can send it what they
// have, and a host that serves others by the name in TLS or in a header (fronting) reaches those
// too. Names are asked for, not addresses: a rule for a host holds for every address of it that the
// dialler allows. UDP is not carried. Programs that ignore the proxy variables (Java, most database
// clients, ssh), or that speak SOCKS alone, get no connection at all.
package proxy

import (
	"context"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"
)

// Limits of one server, which belongs to one command.
const (
	MaxConnections = 256              // carried at once; more wait
	MaxTargets     = 1024             // different hosts and ports asked for; more are refused
	headTime       = 30 * time.Second // for a client to say what it wants
	idleTime       = time.Minute      // between two plain requests of one client
	maxHead        = 64 << 10         // bytes of a request line with its headers
)

// Target is where a connection goes: a host as [Config.Canonical] spells it, and a port.
type Target struct {
	Host string
	Port uint16
}

func (t Target) String() string { return net.JoinHostPort(t.Host, strconv.Itoa(int(t.Port))) }

// Visit is one connection that was asked for and came to an end.
type Visit struct {
	Target         Target
	Refused        error // why it was not allowed; if nil, it was
	Barred         bool  // it was refused by the dialler, though it had been allowed
	Failed         error // why the target was not reached though it was allowed
	Sent, Received int64 // bytes to the target and from it
}

// Config is what a server decides with.
type Config struct {
	// Canonical gives a host its one spelling, or says why it is no host.
	Canonical func(host string) (string, error)
	// Ask decides whether a target may be reached; nil is yes. It may wait for a user. It is called
	// once a target.
	Ask func(ctx context.Context, to Target) error
	// Dial connects to a target that was allowed. It resolves the name and judges the addresses.
	Dial func(ctx context.Context, to Target) (net.Conn, error)
	// Log, when given, is told of each visit after it ended. Calls do not overlap.
	Log func(Visit)
}

// Server carries connections until it is closed.
type Server struct {
	config  Config
	ctx     context.Context
	cancel  context.CancelFunc
	answers answers
	slots   chan struct{}
	web     *http.Server

	mutex   sync.Mutex
	open    map[net.Conn]bool
	refused []Refusal
	closed  bool
	running sync.WaitGroup
	logging sync.Mutex
}

// New makes a server that does nothing until [Server.Serve].
func New(c Config) *Server {
	s := &Server{config: c, slots: make(chan struct{}, MaxConnections), open: map[net.Conn]bool{}}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.answers.known = map[Target]*answer{}
	s.web = s.newWeb()
	return s
}

// Close ends every connection and returns when nothing of the server runs any more.
func (s *Server) Close() {
	s.mutex.Lock()
	s.closed = true
	open := slices.Collect(maps.Keys(s.open))
	s.mutex.Unlock()
	for _, conn := range open {
		conn.Close()
	}
	s.cancel()
	s.web.Close()
	s.running.Wait()
}

// Refusal is a target that was asked for and not carried.
type Refusal struct {
	Target Target
	Barred bool   // it was allowed, but leads to an address that the dialler refuses
	Why    string // in one sentence
}

// Refused lists the targets that were not carried, in the order of the asking, each once.
func (s *Server) Refused() []Refusal {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return slices.Clone(s.refused)
}

// Environment returns the variables that lead programs to a proxy at address, as NAME=value. Only
// this machine is reached without it, which is the namespace of the command. Node reads them only
// when told to.
func Environment(address string) []string {
	web, none := "http://"+address, "localhost,127.0.0.1,::1"
	return []string{
		"HTTP_PROXY=" + web, "http_proxy=" + web, "HTTPS_PROXY=" + web, "https_proxy=" + web,
		"ALL_PROXY=" + web, "all_proxy=" + web, "NO_PROXY=" + none, "no_proxy=" + none,
		"NODE_USE_ENV_PROXY=1",
	}
}
