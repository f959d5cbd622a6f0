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

// A Store holds logins in the system's key ring, else in a file that only the user can read. It
// reads them anew at each use because other processes change them.
type Store struct {
	File   string         // the index of stored logins
	Ring   keyring.System // nil if there is none
	InFile bool           // do not use the key ring
}

// List lists the server addresses with a stored login.
func (s Store) List() ([]string, error) { return keyring.Open(s.File, s.Ring).List() }

// Login returns a server's login, or false.
func (s Store) Login(server *url.URL) (l Login, ok bool, err error) {
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

// Keep stores a login, replacing the former one.
func (s Store) Keep(server *url.URL, l Login) (where string, err error) {
	raw, err := json.Marshal(l)
	if err != nil {
		return "", err
	}
	where, _, err = keyring.Open(s.File, s.Ring).Keep(name(server), l.Issuer, string(raw), s.InFile) // too long for a key ring: use the file
	return where, err
}

// Forget deletes a server's login. It returns keyring.ErrNone if there is none.
func (s Store) Forget(server *url.URL) error {
	return keyring.Open(s.File, s.Ring).Forget(name(server))
}

func name(server *url.URL) string {
	u := *server
	u.Fragment, u.RawFragment, u.User = "", "", nil
	return u.String()
}

// alone calls do while no other process refreshes a login: an issuer accepts a refresh token once
// and may end a login that sends it twice.
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
