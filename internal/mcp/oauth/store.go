package oauth

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"adze/internal/config/keyring"
	"adze/internal/osfile/filelock"
)

// Store is where logins are kept: in the key ring of the system, else in a file that only the user
// can read. What it knows, it reads anew each time: other processes log in and refresh too.
type Store struct {
	File   string         // the list of what is kept where
	Ring   keyring.System // if nil, there is none
	InFile bool           // not in the key ring
}

// Has lists the addresses of servers for which a login is kept.
func (s Store) Has() ([]string, error) { return keyring.Open(s.File, s.Ring).Has() }

// Of is the login that is kept for a server; if false, there is none.
func (s Store) Of(server *url.URL) (l Login, ok bool, err error) {
	store := keyring.Open(s.File, s.Ring)
	issuer, err := store.Host(name(server))
	if err != nil || issuer == "" {
		return l, false, err
	}
	raw, err := store.Key(name(server), issuer)
	if err != nil || raw == "" {
		return l, false, err
	}
	if err := json.Unmarshal([]byte(raw), &l); err != nil || l.Issuer != issuer || !covers(l.Resource, server) {
		return l, false, fmt.Errorf("the login that is kept for %s is not one for it; log in again", server.Host)
	}
	return l, true, nil
}

// Keep keeps a login for a server, in place of the one before.
func (s Store) Keep(server *url.URL, l Login) (where string, err error) {
	raw, err := json.Marshal(l)
	if err != nil {
		return "", err
	}
	where, _, err = keyring.Open(s.File, s.Ring).Keep(name(server), l.Issuer, string(raw), s.InFile) // too long for a key ring: the file
	return where, err
}

// Forget removes the login for a server. keyring.ErrNone: there was none.
func (s Store) Forget(server *url.URL) error {
	return keyring.Open(s.File, s.Ring).Forget(name(server))
}

// name is the server as the list names it.
func name(server *url.URL) string {
	u := *server
	u.Fragment, u.RawFragment, u.User = "", "", nil
	return u.String()
}

// alone does something while no other process refreshes a login: an issuer takes a refresh token
// once, and may end a login when it comes twice.
func (s Store) alone(ctx context.Context, do func() error) error {
	if err := os.MkdirAll(filepath.Dir(s.File), 0o700); err != nil {
		return err
	}
	unlock, err := filelock.Wait(ctx, s.File+".refresh")
	if err != nil {
		return fmt.Errorf("another adze refreshes a login: %w", err)
	}
	defer unlock()
	return do()
}
