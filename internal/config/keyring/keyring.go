// Package keyring stores a user's API keys in the system's keyring or in a private file.
//
// The one rule: a key is sent only to the host it was given for, and never read from a file that
// others can read.
//
// Start reading at Store. file.go holds the list of entries, the only file read until a key is
// needed; system.go is the keyring.
//
// Known limits: one key for a provider. Programs running as this user can read the same data.
package keyring

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
)

// System is an operating system's keyring. Its methods may show a window and wait for the user.
type System interface {
	Name() string // shown to the user
	Get(account string) (string, error)
	Set(account, key string) error
	Delete(account string) error
}

// ErrNone means that no key is stored.
var ErrNone = errors.New("no key is kept")

// Store holds a user's keys. It is safe for concurrent use.
type Store struct {
	path   string
	system System // may be nil

	mu    sync.Mutex
	read  bool
	list  map[string]entry // the file's content
	err   error
	fresh map[string]string // keys already read from the system
}

// Open returns a Store for a file and a keyring; it reads neither.
func Open(path string, system System) *Store { return &Store{path: path, system: system} }

// List returns the providers with a stored key, sorted.
func (s *Store) List() ([]string, error) {
	list, err := s.entries()
	return slices.Sorted(maps.Keys(list)), err
}

// Host returns the host for a provider's key, or "" if none is stored.
func (s *Store) Host(provider string) (string, error) {
	list, err := s.entries()
	return list[provider].Host, err
}

// Key returns a provider's key for a host, or "" if none is stored.
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

// Keep stores a key in the keyring, or in the file if that fails or inFile is set. It returns the
// location for display; why is the keyring's error.
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
			_ = s.system.Delete(account(provider, host)) // the entry would be unreachable
		}
		return "", why, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remember(provider, key)
	return where, why, nil
}

// Forget removes a provider's key, or returns ErrNone.
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

func account(provider, host string) string { return provider + " at " + host }
