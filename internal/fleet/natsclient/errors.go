package natsclient

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// kind is an error with the next move of a user who meets it.
type kind struct{ text, hint string }

func (k *kind) Error() string { return k.text }

// Hint returns the next move.
func (k *kind) Hint() string { return k.hint }

// Sentinels.
var (
	// ErrAddress says that the address, the token or the credentials cannot be used as they are.
	ErrAddress error = &kind{"the NATS server cannot be used", "mend the address, ADZE_NATS_TOKEN_FILE or ADZE_NATS_CREDS"}
	// ErrUnreachable says that no server answered.
	ErrUnreachable error = &kind{"no NATS server answers", "start the NATS server, or check its address and the way to it"}
	// ErrRefused says that a server answered and let nobody in, or forbids what was asked.
	ErrRefused error = &kind{"the NATS server refuses", "check ADZE_NATS_TOKEN_FILE or ADZE_NATS_CREDS, and what the server lets them do"}
	// ErrNoJetStream says that the server, or the account, has JetStream switched off.
	ErrNoJetStream error = &kind{"the NATS server has no JetStream", "switch JetStream on at the NATS server"}
	// ErrOldServer says that the server lacks what adze needs.
	ErrOldServer error = &kind{"the NATS server is too old", "use a newer NATS server"}
	// ErrFull says that a stream, a bucket or the server's disk takes no more.
	ErrFull error = &kind{"the NATS server is full", "make room on the NATS server, or raise its limits"}
	// ErrMade says that a stream is there that was made otherwise than it must be.
	ErrMade error = &kind{"the stream is not as it must be", "see to the stream on the NATS server, as the message says"}
	// ErrHeld says that somebody else holds a lease.
	ErrHeld error = &kind{"somebody else holds it", "end the other one, or wait until its lease ends"}
	// ErrLost says that a lease was not renewed in time, or that somebody else has it by now.
	ErrLost error = &kind{"the lease was lost", "another process may go on with it by now; look at it first"}
	// ErrNone says that there is no such message or content.
	ErrNone = errors.New("there is no such thing on the NATS server")
	// ErrDamaged says that a content is not the one that its name says.
	ErrDamaged error = &kind{"the content on the NATS server is damaged", "compare with a copy of the stream of the NATS server"}
)

// Codes of the server's API errors (server/errors.json of nats-server).
const (
	codeAccountFull   jetstream.ErrorCode = 10002
	codeNoPeers       jetstream.ErrorCode = 10005
	codeUnavailable   jetstream.ErrorCode = 10008 // a cluster without a leader
	codeNotLeader     jetstream.ErrorCode = 10009
	codeInsufficient  jetstream.ErrorCode = 10023
	codeMemoryFull    jetstream.ErrorCode = 10028
	codeStorageFull   jetstream.ErrorCode = 10047
	codeReplicas      jetstream.ErrorCode = 10074 // more than one without a cluster
	codeStoreFailed   jetstream.ErrorCode = 10077 // a limit of the stream
	codePurgeDenied   jetstream.ErrorCode = 10110
	codeOffline       jetstream.ErrorCode = 10118
	codeWrongSequence                     = jetstream.JSErrCodeStreamWrongLastSequence
	codeInFlight                          = jetstream.JSErrCodeStreamWrongLastSequenceConstant
	codeNotEnabled                        = jetstream.JSErrCodeJetStreamNotEnabled
	codeNotForAccount                     = jetstream.JSErrCodeJetStreamNotEnabledForAccount
)

// codeOf is the code of an answer of the API; if 0, err is none.
func codeOf(err error) jetstream.ErrorCode {
	var api *jetstream.APIError
	if errors.As(err, &api) {
		return api.ErrorCode
	}
	var js jetstream.JetStreamError
	if errors.As(err, &js) && js.APIError() != nil {
		return js.APIError().ErrorCode
	}
	return 0
}

// Conflict reports whether a publication was refused because its subject has gone on, or is about
// to: it may be one's own that did.
func Conflict(err error) bool {
	code := codeOf(err)
	return code == codeWrongSequence || code == codeInFlight
}

// Full reports whether a server took nothing because there is no room.
func Full(err error) bool {
	switch codeOf(err) {
	case codeAccountFull, codeInsufficient, codeMemoryFull, codeStorageFull, codeStoreFailed:
		return true
	}
	return errors.Is(err, ErrFull)
}

// Passing reports whether the same may succeed a moment later: no leader, no answer, no connection.
// What was asked may have been done.
func Passing(err error) bool {
	switch codeOf(err) {
	case codeUnavailable, codeOffline, codeNotLeader:
		return true
	case 0:
	default:
		return false
	}
	for _, e := range []error{
		context.DeadlineExceeded, nats.ErrTimeout, nats.ErrNoResponders, jetstream.ErrNoStreamResponse, nats.ErrDisconnected,
		nats.ErrConnectionReconnecting, nats.ErrReconnectBufExceeded, nats.ErrStaleConnection, jetstream.ErrInvalidJSAck, nats.ErrNoServers,
	} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// told is what a failed connection says for good; if nil, another try may succeed.
func told(o Options, err error) error {
	for _, e := range []error{nats.ErrAuthorization, nats.ErrAuthExpired, nats.ErrAuthRevoked, nats.ErrAccountAuthExpired} {
		if errors.Is(err, e) {
			return fmt.Errorf("%w: %s lets nobody in with %s: %w", ErrRefused, o.URL, o.secret(), err)
		}
	}
	if errors.Is(err, nats.ErrSecureConnWanted) {
		return fmt.Errorf("%w: %s offers no TLS, and the connection leaves this machine; switch TLS on there, or set ADZE_NATS_PLAINTEXT=1 where nobody can listen", ErrAddress, o.URL)
	}
	return nil
}

func (o Options) secret() string {
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

// explain says what an error means and the next move.
func (c *Conn) explain(err error) error {
	if err == nil {
		return nil
	}
	where := c.options.URL
	err = c.Forbidden(err)
	switch {
	case errors.Is(err, ErrHeld), errors.Is(err, ErrLost), errors.Is(err, ErrNone), errors.Is(err, context.Canceled):
		return err
	case codeOf(err) == codeNotEnabled || codeOf(err) == codeNotForAccount || errors.Is(err, jetstream.ErrJetStreamNotEnabled):
		return fmt.Errorf("%w: %s: start it with --jetstream, or switch it on for the account: %w", ErrNoJetStream, where, err)
	case codeOf(err) == codeNoPeers || codeOf(err) == codeReplicas:
		return fmt.Errorf("%w: %s has too few servers for 3 replicas; start them, or ask for 1: %w", ErrMade, where, err)
	case Full(err):
		return fmt.Errorf("%w: %s: make room there or raise its limits, then go on: %w", ErrFull, where, err)
	case errors.Is(err, ErrRefused):
		return err
	case errors.Is(err, nats.ErrPermissionViolation):
		return fmt.Errorf("%w: %s: %w", ErrRefused, where, err)
	case Passing(err):
		return fmt.Errorf("%w: %s: %w", ErrUnreachable, where, err)
	case errors.Is(err, nats.ErrConnectionClosed):
		return fmt.Errorf("the connection to %s was closed: %w", where, err)
	}
	return fmt.Errorf("the NATS server %s: %w", where, err)
}
