// Package natsclient is what adze uses of NATS JetStream: a connection, streams and buckets that
// are made as they must be, leases that a process holds for a while, and large contents under their
// SHA-256.
//
// The one rule: what a server acknowledged is only as good as its disk, so nothing here calls a
// write durable; Durability says what could be proven. A lease is a courtesy between workers, never
// a fence: whoever writes under one also names the sequence that the write must follow.
//
// Start reading at Dial. place.go makes and checks streams and buckets, leases.go, lease.go and
// blob.go are what their names say, leader.go asks who leads a stream, durable.go asks the servers'
// monitors.
//
// Known limits: a time to live runs by the clock of the server that leads, so a change of leaders
// moves the end of a lease by what their clocks differ. A server whose address a cluster tells of
// is only used with TLS.
package natsclient

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Options say which servers are meant. The zero value of all but URL is right outside tests.
type Options struct {
	URL       string        // nats://host:port or tls://host:port, more of them behind commas
	TokenFile string        // holds a token; read at each connection, so that it can be changed
	User      string        // the user whose password the token file holds; if empty, it holds a token
	Creds     string        // a file with the credentials of a user (JWT and seed)
	CA        string        // a file with the certificates of those who vouch for servers, in PEM; if empty, the system's
	Cert, Key string        // files with the certificate of this client and its key, in PEM; read at each connection
	Plaintext bool          // allows a connection without TLS that leaves this machine
	Monitor   string        // http://host:8222 of each server, behind commas; if empty, durability is not proven
	Replicas  int           // 1 or 3, of what is made; if 0, 3 in a cluster, else 1
	Wait      time.Duration // how long a server is looked for; if 0, 5 s
	Leader    time.Duration // how long those that were found may have none that leads; if 0, 20 s
	Lease     time.Duration // how long a server believes in the holder of a lease that says nothing, at least 3 s; if 0, 15 s
	Name      string        // of this client, as the server lists it; if empty, adze
}

// FromEnvironment completes options by ADZE_NATS, ADZE_NATS_USER, ADZE_NATS_TOKEN_FILE,
// ADZE_NATS_CREDS, ADZE_NATS_CA, ADZE_NATS_CERT, ADZE_NATS_KEY, ADZE_NATS_PLAINTEXT (1),
// ADZE_NATS_MONITOR and ADZE_NATS_LEASE (15s); what is given stays.
func FromEnvironment(o Options, getenv func(string) string) Options {
	o.URL = cmp.Or(o.URL, getenv("ADZE_NATS"))
	o.TokenFile = cmp.Or(o.TokenFile, getenv("ADZE_NATS_TOKEN_FILE"))
	o.User = cmp.Or(o.User, getenv("ADZE_NATS_USER"))
	o.Creds = cmp.Or(o.Creds, getenv("ADZE_NATS_CREDS"))
	o.CA = cmp.Or(o.CA, getenv("ADZE_NATS_CA"))
	o.Cert, o.Key = cmp.Or(o.Cert, getenv("ADZE_NATS_CERT")), cmp.Or(o.Key, getenv("ADZE_NATS_KEY"))
	o.Monitor = cmp.Or(o.Monitor, getenv("ADZE_NATS_MONITOR"))
	if text := getenv("ADZE_NATS_LEASE"); text != "" && o.Lease == 0 {
		var err error
		if o.Lease, err = time.ParseDuration(text); err != nil || o.Lease == 0 {
			o.Lease = -1 // Dial refuses it
		}
	}
	o.Plaintext = o.Plaintext || getenv("ADZE_NATS_PLAINTEXT") == "1"
	return o
}

// IsURL reports whether a text is meant as the address of NATS servers.
func IsURL(text string) bool {
	return strings.HasPrefix(text, "nats://") || strings.HasPrefix(text, "tls://")
}

// Conn is a connection to JetStream, which is made again whenever it breaks. It is safe for
// concurrent use.
type Conn struct {
	nc      *nats.Conn
	js      jetstream.JetStream
	options Options

	refusals *refusals
}

const (
	defaultWait = 5 * time.Second
	// oldest is the first server with times to live of single messages, which leases need.
	oldest = "2.11.0"
)

// Dial connects and makes sure that there is JetStream. Its errors wrap ErrAddress, ErrUnreachable,
// ErrRefused, ErrNoJetStream or ErrOldServer.
func Dial(ctx context.Context, o Options) (*Conn, error) {
	if o.Replicas != 0 && o.Replicas != 1 && o.Replicas != 3 {
		return nil, fmt.Errorf("%w: %d replicas; use 1 or 3", ErrAddress, o.Replicas)
	}
	if o.Lease != 0 && o.Lease < leastLease {
		return nil, fmt.Errorf("%w: ADZE_NATS_LEASE wants a time from %v on, such as 15s", ErrAddress, leastLease)
	}
	plain, err := plainURL(o.URL, o.Plaintext)
	if err != nil {
		return nil, err
	}
	settings, err := o.settings(plain)
	if err != nil {
		return nil, err
	}
	said := &refusals{}
	settings = append(settings, nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { said.note(err) }))
	nc, err := connect(ctx, o, settings)
	if err != nil {
		return nil, err
	}
	o.Lease = cmp.Or(o.Lease, usualLease)
	c := &Conn{nc: nc, options: o, refusals: said}
	if err := c.check(ctx); err != nil {
		nc.Close()
		return nil, err
	}
	return c, nil
}

// plainURL checks each address and reports whether all of them may do without TLS.
func plainURL(list string, allowed bool) (plain bool, err error) {
	if list == "" {
		return false, fmt.Errorf("%w: no server is named; give nats://HOST:PORT", ErrAddress)
	}
	plain = true
	for text := range strings.SplitSeq(list, ",") {
		u, err := url.Parse(strings.TrimSpace(text))
		if err != nil || u.Host == "" || u.Scheme != "nats" && u.Scheme != "tls" {
			return false, fmt.Errorf("%w: want nats://HOST:PORT or tls://HOST:PORT", ErrAddress) // not shown: it may hold a password
		}
		if u.User != nil {
			return false, fmt.Errorf("%w: %s carries a secret, which process lists and logs would show; put the token into a file and name it by ADZE_NATS_TOKEN_FILE, or use ADZE_NATS_CREDS", ErrAddress, u.Host)
		}
		if u.Scheme == "tls" || !allowed && !loopback(u.Hostname()) {
			plain = false
		}
	}
	return plain, nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func (o Options) settings(plain bool) ([]nats.Option, error) {
	out := []nats.Option{
		nats.Name(cmp.Or(o.Name, "adze")),
		nats.Timeout(oneTry),
		nats.MaxReconnects(-1),
		nats.ReconnectWait(200 * time.Millisecond),
		nats.ReconnectJitter(100*time.Millisecond, time.Second),
		nats.ReconnectBufSize(-1),          // what could not be sent is an error at once, and nothing is sent late
		nats.IgnoreAuthErrorAbort(),        // a token that is being changed is wrong for a moment
		nats.PingInterval(4 * time.Second), // a dead connection is noticed before a lease ends
		nats.MaxPingsOutstanding(1),
	}
	secure, err := o.secure() // also where it is not used: files that are named are to be there
	switch {
	case err != nil:
		return nil, err
	case plain:
		out = append(out, nats.IgnoreDiscoveredServers()) // one of them may lie outside of this machine
	default:
		out = append(out, nats.Secure(secure))
	}
	if strings.ContainsAny(o.User, " \t\r\n.*>") {
		return nil, fmt.Errorf("%w: %q is no name of a user; use letters and digits in ADZE_NATS_USER", ErrAddress, o.User)
	}
	if o.User != "" && o.TokenFile == "" {
		return nil, fmt.Errorf("%w: ADZE_NATS_USER names a user, and no file holds the password; name it by ADZE_NATS_TOKEN_FILE", ErrAddress)
	}
	if o.TokenFile != "" {
		if _, err := readToken(o.TokenFile); err != nil {
			return nil, err
		}
	}
	if o.TokenFile != "" && o.User != "" {
		// Answers come to subjects of the user's own, so that a server can keep others from them.
		out = append(out, nats.CustomInboxPrefix("_INBOX."+o.User), nats.UserInfoHandler(func() (string, string) {
			password, _ := readToken(o.TokenFile)
			return o.User, password
		}))
	} else if o.TokenFile != "" {
		out = append(out, nats.TokenHandler(func() string {
			token, _ := readToken(o.TokenFile) // an empty one is refused by the server
			return token
		}))
	}
	if o.Creds != "" {
		if _, err := os.Stat(o.Creds); err != nil {
			return nil, fmt.Errorf("%w: the credentials: %w", ErrAddress, err)
		}
		out = append(out, nats.UserCredentials(o.Creds))
	}
	return out, nil
}

// secure is how servers are known, and how this client is.
func (o Options) secure() (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if o.CA != "" {
		text, err := os.ReadFile(o.CA)
		if err != nil {
			return nil, fmt.Errorf("%w: the certificates of ADZE_NATS_CA: %w", ErrAddress, err)
		}
		if c.RootCAs = x509.NewCertPool(); !c.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("%w: %s of ADZE_NATS_CA has no certificate in PEM", ErrAddress, o.CA)
		}
	}
	if (o.Cert == "") != (o.Key == "") {
		return nil, fmt.Errorf("%w: a certificate needs its key: set ADZE_NATS_CERT and ADZE_NATS_KEY, both", ErrAddress)
	}
	if o.Cert != "" {
		if _, err := tls.LoadX509KeyPair(o.Cert, o.Key); err != nil {
			return nil, fmt.Errorf("%w: the certificate of this client: %w", ErrAddress, err)
		}
		c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			pair, err := tls.LoadX509KeyPair(o.Cert, o.Key)
			return &pair, err
		}
	}
	return c, nil
}

func readToken(path string) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("%w: the token: %w", ErrAddress, err)
	}
	token := strings.TrimSpace(string(text))
	if token == "" {
		return "", fmt.Errorf("%w: the token file %s is empty", ErrAddress, path)
	}
	return token, nil
}

// connect tries until a server answers, one says no, or the time is over.
func connect(ctx context.Context, o Options, settings []nats.Option) (*nats.Conn, error) {
	limit := cmp.Or(o.Wait, defaultWait)
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("nobody answered within %v", limit))
	defer cancel()
	for {
		nc, err := once(ctx, o.URL, settings)
		if err == nil {
			return nc, nil
		}
		if final := told(o, err); final != nil {
			return nil, final
		}
		if !pause(ctx, 100*time.Millisecond) {
			return nil, fmt.Errorf("%w: %s: %w; start it, or check the address", ErrUnreachable, o.URL, err)
		}
	}
}

// once is one try that ctx calls off, which the library does not know.
func once(ctx context.Context, url string, settings []nats.Option) (*nats.Conn, error) {
	type answer struct {
		nc  *nats.Conn
		err error
	}
	got := make(chan answer, 1)
	go func() {
		nc, err := nats.Connect(url, settings...)
		got <- answer{nc, err}
	}()
	select {
	case a := <-got:
		return a.nc, a.err
	case <-ctx.Done():
		go func() {
			if a := <-got; a.nc != nil {
				a.nc.Close()
			}
		}()
		return nil, context.Cause(ctx)
	}
}

// pause waits unless ctx is done.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// check asks for JetStream. A cluster that starts, or has lost the one that leads, has no leader
// for a while: 2 to 7 s, and longer on machines that are busy.
func (c *Conn) check(ctx context.Context) (err error) {
	if version := c.nc.ConnectedServerVersion(); older(version, oldest) {
		return fmt.Errorf("%w: %s runs %s; adze needs %s or later", ErrOldServer, c.options.URL, version, oldest)
	}
	if c.js, err = jetstream.New(c.nc); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(c.options.Leader, makingTakes))
	defer cancel()
	err = c.patiently(ctx, func(ctx context.Context) error {
		_, err := c.js.AccountInfo(ctx)
		return err
	})
	if errors.Is(err, ErrUnreachable) {
		return fmt.Errorf("JetStream did not say that it is there: %w", err)
	}
	return err
}

// older compares versions by their numbers.
func older(version, than string) bool {
	numbers := func(v string) (out [3]int) {
		_, _ = fmt.Sscanf(v, "%d.%d.%d", &out[0], &out[1], &out[2]) // what is no number is old
		return out
	}
	a, b := numbers(version), numbers(than)
	return slices.Compare(a[:], b[:]) < 0
}

// JetStream is the client's own interface; NATS the connection below it.
func (c *Conn) JetStream() jetstream.JetStream { return c.js }

// NATS is the connection.
func (c *Conn) NATS() *nats.Conn { return c.nc }

// Lease is how long a server believes in the holder of a lease that says nothing.
func (c *Conn) Lease() time.Duration { return c.options.Lease }

// URL is the address that was dialled.
func (c *Conn) URL() string { return c.options.URL }

// Close ends the connection; what was not acknowledged is lost.
func (c *Conn) Close() { c.nc.Close() }
