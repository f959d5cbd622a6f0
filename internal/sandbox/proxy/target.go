package proxy

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
)

// target parses a host and port. It accepts only letters, digits, dots, hyphens, underscores and
// the characters of addresses: a NUL, a percent sign or a blank has made two parsers see two hosts
// before.
func (s *Server) target(host, port string) (Target, error) {
	if strings.Trim(strings.ToLower(host), "abcdefghijklmnopqrstuvwxyz0123456789.-_:") != "" {
		return Target{}, fmt.Errorf("%q is not a host", bounded(host))
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 {
		return Target{}, fmt.Errorf("%q is not a port", bounded(port))
	}
	name, err := s.config.Canonical(host)
	if err != nil {
		return Target{}, err
	}
	return Target{name, uint16(n)}, nil
}

// reach asks for a target and connects to it. A failure is recorded as a visit.
func (s *Server) reach(ctx context.Context, to Target) (net.Conn, error) {
	err := s.allowed(ctx, to)
	if err != nil {
		s.record(Visit{Target: to, Refused: err})
		return nil, &refusal{to, err}
	}
	conn, err := s.config.Dial(ctx, to)
	if err != nil {
		if denied(err) {
			s.record(Visit{Target: to, Refused: err, Barred: true})
			return nil, &refusal{to, err}
		}
		s.record(Visit{Target: to, Failed: err})
		return nil, fmt.Errorf("%s cannot be reached: %w", to, err)
	}
	if !s.hold(conn) {
		return nil, s.ctx.Err()
	}
	return conn, nil
}

type refusal struct {
	to  Target
	err error
}

func (r *refusal) Error() string {
	return fmt.Sprintf("this command may not reach %s: %v", r.to, r.err)
}

func (r *refusal) Unwrap() error { return r.err }

// denied reports whether the dialler refused the address, by the code in tool errors, rather than
// failed to connect.
func denied(err error) bool {
	var coded interface{ ErrorCode() string }
	return errors.As(err, &coded) && coded.ErrorCode() == "denied"
}

func bounded(s string) string {
	if len(s) > 80 {
		return s[:80] + "…"
	}
	return s
}
