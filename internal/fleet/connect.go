package fleet

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

// Options selects the servers.
type Options struct {
	URL       string        // nats://host:port or tls://host:port, separated by commas
	TokenFile string        // file with a token; read at each connection, so it can change
	User      string        // user whose password the token file holds; "" if it holds a token
	Creds     string        // file with a user's credentials (JWT and seed)
	CA        string        // PEM file with CA certificates; "" for the system's
	Cert, Key string        // PEM files with the client's certificate and key
	Plaintext bool          // allows connections to other machines without TLS
	AckWait   time.Duration // longest silence about a worker's task, at least 1 s
}

// FromEnvironment reads the variables ADZE_NATS…; a nonempty url wins.
func FromEnvironment(url string, getenv func(string) string) (Options, error) {
	o := Options{URL: cmp.Or(url, getenv("ADZE_NATS")), TokenFile: getenv("ADZE_NATS_TOKEN_FILE"), User: getenv("ADZE_NATS_USER"), Creds: getenv("ADZE_NATS_CREDS"),
		CA: getenv("ADZE_NATS_CA"), Cert: getenv("ADZE_NATS_CERT"), Key: getenv("ADZE_NATS_KEY"), Plaintext: getenv("ADZE_NATS_PLAINTEXT") == "1", AckWait: 30 * time.Second}
	if text := getenv("ADZE_NATS_LEASE"); text != "" {
		var err error
		if o.AckWait, err = time.ParseDuration(text); err != nil || o.AckWait < time.Second {
			return o, fmt.Errorf("%w: ADZE_NATS_LEASE is a time from 1s on, such as 30s", ErrAddress)
		}
	}
	return o, nil
}

// kind is an error with a hint for the user.
type kind struct{ text, hint string }

func (k *kind) Error() string { return k.text }

// Hint returns the next step.
func (k *kind) Hint() string { return k.hint }

// Errors of connecting.
var (
	ErrAddress error = &kind{"the NATS server cannot be used", "mend the address, ADZE_NATS_TOKEN_FILE or ADZE_NATS_CREDS"}
	ErrAway    error = &kind{"no NATS server answers", "start the NATS server, or check its address and the way to it"}
	ErrRefused error = &kind{"the NATS server refuses", "check ADZE_NATS_TOKEN_FILE or ADZE_NATS_CREDS, and what the server lets them do"}
	ErrStream  error = &kind{"JetStream of the NATS server cannot be used", "switch JetStream on, and see to its streams and limits as the message says"}
)

// answerTakes limits the wait for a server; a cluster elects its leader in 2 to 7 s.
const answerTakes = 20 * time.Second

func dial(ctx context.Context, o Options) (*nats.Conn, error) {
	settings, err := o.settings()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	for {
		nc, err := nats.Connect(o.URL, settings...)
		switch {
		case err == nil:
			return nc, nil
		case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired), errors.Is(err, nats.ErrAuthRevoked):
			return nil, fmt.Errorf("%w: %s lets nobody in with %s: %w", ErrRefused, o.URL, o.identity(), err)
		case errors.Is(err, nats.ErrSecureConnWanted):
			return nil, fmt.Errorf("%w: %s offers no TLS, and the connection leaves this machine; switch TLS on there, or set ADZE_NATS_PLAINTEXT=1 where nobody can listen", ErrAddress, o.URL)
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("%w: %s: %w; start it, or check the address", ErrAway, o.URL, err)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// identity returns the client's name for servers.
func (o Options) identity() string {
	switch {
	case o.User != "":
		return "the user " + o.User + " and the password in " + o.TokenFile
	case o.TokenFile != "":
		return "the token in " + o.TokenFile
	case o.Creds != "":
		return "the credentials in " + o.Creds
	}
	return "neither token nor credentials; name a file by ADZE_NATS_TOKEN_FILE or ADZE_NATS_CREDS"
}

// isPlain checks each address and reports whether all may be used without TLS.
func (o Options) isPlain() (plain bool, err error) {
	plain = true
	for text := range strings.SplitSeq(o.URL, ",") {
		u, err := url.Parse(strings.TrimSpace(text))
		if err != nil || u.Host == "" || u.Scheme != "nats" && u.Scheme != "tls" {
			return false, fmt.Errorf("%w: want nats://HOST:PORT or tls://HOST:PORT", ErrAddress) // not shown: it may hold a password
		}
		if u.User != nil {
			return false, fmt.Errorf("%w: %s carries a secret, which process lists and logs would show; put the token into a file and name it by ADZE_NATS_TOKEN_FILE, or use ADZE_NATS_CREDS", ErrAddress, u.Host)
		}
		ip := net.ParseIP(u.Hostname())
		here := u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
		plain = plain && u.Scheme != "tls" && (here || o.Plaintext)
	}
	return plain, nil
}

func (o Options) settings() ([]nats.Option, error) {
	plain, err := o.isPlain()
	if err != nil {
		return nil, err
	}
	out := []nats.Option{nats.Name("adze"), nats.Timeout(3 * time.Second), nats.MaxReconnects(-1), nats.ReconnectWait(200 * time.Millisecond), nats.IgnoreAuthErrorAbort(),
		nats.PingInterval(4 * time.Second), nats.MaxPingsOutstanding(1), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {})}
	secure, err := o.secure() // even if unused: the named files must exist
	switch {
	case err != nil:
		return nil, err
	case plain:
		out = append(out, nats.IgnoreDiscoveredServers()) // one may be outside this machine
	default:
		out = append(out, nats.Secure(secure))
	}
	secret, err := o.secret()
	switch {
	case err != nil:
		return nil, err
	case strings.ContainsAny(o.User, " \t\r\n.*>"):
		return nil, fmt.Errorf("%w: %q is no name of a user; use letters and digits in ADZE_NATS_USER", ErrAddress, o.User)
	case o.User != "" && secret == "":
		return nil, fmt.Errorf("%w: ADZE_NATS_USER names a user, and no file holds the password; name it by ADZE_NATS_TOKEN_FILE", ErrAddress)
	case o.User != "":
		// Replies use subjects of this user, so that a server can hide them from others.
		out = append(out, nats.CustomInboxPrefix("_INBOX."+o.User), nats.UserInfoHandler(func() (string, string) {
			password, _ := o.secret() // the server refuses an empty one
			return o.User, password
		}))
	case secret != "":
		out = append(out, nats.TokenHandler(func() string {
			token, _ := o.secret()
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

// secret reads the token file, or returns "" without one.
func (o Options) secret() (string, error) {
	if o.TokenFile == "" {
		return "", nil
	}
	text, err := os.ReadFile(o.TokenFile)
	if err != nil {
		return "", fmt.Errorf("%w: the token: %w", ErrAddress, err)
	}
	if len(strings.TrimSpace(string(text))) == 0 {
		return "", fmt.Errorf("%w: the token file %s is empty", ErrAddress, o.TokenFile)
	}
	return strings.TrimSpace(string(text)), nil
}

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
		c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { // read anew because it may be renewed
			pair, err := tls.LoadX509KeyPair(o.Cert, o.Key)
			return &pair, err
		}
	}
	return c, nil
}

// isPassing reports whether the operation may soon succeed: no leader, response or connection. It
// may already have been done.
func isPassing(err error) bool {
	var api *jetstream.APIError
	if errors.As(err, &api) {
		return slices.Contains([]jetstream.ErrorCode{10005, 10008, 10009, 10118}, api.ErrorCode) // no peers yet, no leader, or a server that is away
	}
	return slices.ContainsFunc([]error{context.DeadlineExceeded, nats.ErrTimeout, nats.ErrNoResponders, jetstream.ErrNoStreamResponse, nats.ErrDisconnected, nats.ErrConnectionReconnecting,
		nats.ErrReconnectBufExceeded, nats.ErrStaleConnection, nats.ErrNoServers, jetstream.ErrInvalidJSAck}, func(e error) bool { return errors.Is(err, e) })
}

// patiently repeats do until it succeeds, fails for good, or the servers had time to elect a
// leader.
func (s *Server) patiently(ctx context.Context, do func(context.Context) error) error {
	all, cancel := context.WithTimeout(ctx, answerTakes)
	defer cancel()
	for {
		try, end := context.WithTimeout(all, 3*time.Second)
		err := do(try)
		end()
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.Is(s.nc.LastError(), nats.ErrPermissionViolation) && isPassing(err): // a forbidden request gets no response
			return fmt.Errorf("%w: %s does not let its user do this: %w", ErrRefused, s.options.URL, s.nc.LastError())
		case !isPassing(err) || all.Err() != nil:
			return s.explain(err)
		}
		select {
		case <-all.Done():
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func (s *Server) explain(err error) error {
	var api *jetstream.APIError
	switch {
	case isPassing(err):
		return fmt.Errorf("%w: %s: %w", ErrAway, s.options.URL, err)
	case errors.As(err, &api), errors.Is(err, jetstream.ErrJetStreamNotEnabled), errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount):
		return fmt.Errorf("%w: %s: %w", ErrStream, s.options.URL, err)
	}
	return err
}
