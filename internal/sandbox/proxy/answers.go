package proxy

import (
	"context"
	"fmt"
	"slices"
	"sync"
)

type answers struct {
	mutex sync.Mutex
	known map[Target]*answer
}

// answer is one decision. Read err only after done is closed.
type answer struct {
	done chan struct{}
	err  error
}

// allowed asks about a target, or waits for a running question. The question outlives its
// connection: other clients may wait for it.
func (s *Server) allowed(ctx context.Context, to Target) error {
	a, err := s.answerFor(to)
	if err != nil {
		return err
	}
	select {
	case <-a.done:
		return a.err
	case <-ctx.Done():
		return ctx.Err()
	case <-s.ctx.Done():
		return s.ctx.Err()
	}
}

func (s *Server) answerFor(to Target) (*answer, error) {
	s.answers.mutex.Lock()
	defer s.answers.mutex.Unlock()
	if a := s.answers.known[to]; a != nil {
		return a, nil
	}
	if len(s.answers.known) >= MaxTargets {
		return nil, fmt.Errorf("more than %d different places were asked for by one command", MaxTargets)
	}
	if !s.begin() {
		return nil, s.ctx.Err()
	}
	a := &answer{done: make(chan struct{})}
	s.answers.known[to] = a
	go func() {
		defer s.running.Done()
		defer close(a.done)
		a.err = s.config.Ask(s.ctx, to)
	}()
	return a, nil
}

func (s *Server) record(v Visit) {
	if v.Refused != nil {
		s.mutex.Lock()
		known := slices.ContainsFunc(s.refused, func(r Refusal) bool { return r.Target == v.Target && r.Barred == v.Barred })
		if !known && len(s.refused) < MaxTargets {
			s.refused = append(s.refused, Refusal{v.Target, v.Barred, v.Refused.Error()})
		}
		s.mutex.Unlock()
	}
	if s.config.Log != nil {
		s.logging.Lock()
		defer s.logging.Unlock()
		s.config.Log(v)
	}
}
