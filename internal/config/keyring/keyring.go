// Package keyring keeps the keys that a user gives to adze: in the key ring of their system, else
// in a file that only they can read.
//
// The one rule: a key goes to the host that it was given for and to no other, and is never taken
// from a file that others can read.
//
// Start reading at Store. file.go is the list of what is kept where, which is all that is read
// until a key is needed; system.go is the key ring.
//
// Known limits: one key for a provider. Whoever runs programs as this user can read what this user
// can.
package keyring

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
)

// System is the key ring of an operating system. What it is asked may show a window and wait for
// the user.
type System interface {
	Name() string // for the user
	Get(account string) (string, error)
	Set(account, key string) error
	Delete(account string) error
}

// ErrNone says that nothing is kept.
var ErrNone = errors.New("no key is kept")

// Store is what one person gave to keep. It is safe for concurrent use.
type Store struct {
	path   string
	system System // if nil, there is none

	mu    sync.Mutex
	read  bool
	list  map[string]entry // as the file had it
	err   error
	fresh map[string]string // keys that the system told already
}

// Open makes a store of a file and a key ring; it reads neither.
func Open(path string, system System) *Store { return &Store{path: path, system: system} }

// Has lists the providers for which a key is kept, in alphabetical order.
func (s *Store) Has() ([]string, error) {
	list, err := s.entries()
	return slices.Sorted(maps.Keys(list)), err
}

// Host is the host that the key of a provider is kept for; if empty, none is kept.
func (s *Store) Host(provider string) (string, error) {
	list, err := s.entries()
	return list[provider].Host, err
}

// Key is the key of a provider for a host; if empty, none is kept for it.
func (s *Store) Key(provider, host string) (string, error) {
	list, err := s.entries()
	e, ok := list[provider]
	if err != nil || !ok || e.Host != host {
		return "", err
	}
	if !e.Ring {
		return e.Key, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if key, ok := s.fresh[provider]; ok {
		return key, nil
	}
	if s.system == nil {
		return "", fmt.Errorf("the key for %s is in a key ring that cannot be reached from here", provider)
	}
	key, err := s.system.Get(account(provider, host))
	if err != nil {
		return "", fmt.Errorf("the key for %s in %s cannot be had: %w", provider, s.system.Name(), err)
	}
	s.remember(provider, key)
	return key, nil
}

func (s *Store) remember(provider, key string) {
	if s.fresh == nil {
		s.fresh = map[string]string{}
	}
	s.fresh[provider] = key
}

// Keep keeps a key in the key ring, else (or where inFile asks for it) in the file, and says where
// for the user. why says what was wrong with the key ring.
func (s *Store) Keep(provider, host, key string, inFile bool) (where string, why, err error) {
	e := entry{Host: host, Key: key}
	where = s.path + ", which only you can read"
	if s.system != nil && !inFile {
		if why = s.system.Set(account(provider, host), key); why == nil {
			e, where = entry{Host: host, Ring: true}, s.system.Name()
		}
	}
	if err = s.change(func(list map[string]entry) { list[provider] = e }); err != nil {
		if e.Ring {
			_ = s.system.Delete(account(provider, host)) // nothing would find it there
		}
		return "", why, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remember(provider, key)
	return where, why, nil
}

// Forget removes the key of a provider. ErrNone: there was none.
func (s *Store) Forget(provider string) error {
	list, err := s.entries()
	if err != nil {
		return err
	}
	e, ok := list[provider]
	if !ok {
		return ErrNone
	}
	if e.Ring {
		if s.system == nil {
			return fmt.Errorf("the key for %s is in a key ring that cannot be reached from here", provider)
		}
		if err := s.system.Delete(account(provider, e.Host)); err != nil && !errors.Is(err, ErrNone) {
			return fmt.Errorf("the key for %s stays in %s: %w", provider, s.system.Name(), err)
		}
	}
	return s.change(func(list map[string]entry) { delete(list, provider) })
}

// account is the name of a key in a key ring.
func account(provider, host string) string { return provider + " at " + host }
