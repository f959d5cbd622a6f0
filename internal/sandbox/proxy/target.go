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

// reach asks for a target and connects to it. The end of the server closes the connection.
func (s *Server) reach(ctx context.Context, to Target) (net.Conn, error) {
	err := s.allowed(ctx, to)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err() // the client is gone, or the server is closed
	case err != nil:
		return nil, s.refuse(to, false, err)
	}
	conn, err := s.config.Dial(ctx, to)
	switch {
	case err == nil:
		return s.track(conn, func() {}), nil
	case denied(err):
		return nil, s.refuse(to, true, err)
	}
	return nil, fmt.Errorf("%s cannot be reached: %w", to, err)
}

// allowed asks about a target once, or waits for a running question. A client that is gone waits no
// longer; the question goes on for the next one.
func (s *Server) allowed(ctx context.Context, to Target) error {
	s.mutex.Lock()
	answer := s.answers[to]
	if answer == nil && len(s.answers) >= MaxTargets {
		s.mutex.Unlock()
		return fmt.Errorf("more than %d different places were asked for by one command", MaxTargets)
	}
	if answer == nil {
		answer = make(chan error, 1)
		s.answers[to] = answer
		s.running.Go(func() { answer <- s.config.Ask(s.ctx, to) })
	}
	s.mutex.Unlock()
	select {
	case err := <-answer:
		answer <- err // for the next client
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
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
