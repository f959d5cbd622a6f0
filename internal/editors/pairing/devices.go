package pairing

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"adze/internal/osfile/atomicfile"
	"adze/internal/osfile/filelock"
)

// Scope is one thing that a device may do. None widens a rule, a mode or a consent.
type Scope string

// The scopes.
const (
	Look   Scope = "look"   // see sessions and what happens in them
	Answer Scope = "answer" // answer each question once, and stop a turn
	Prompt Scope = "prompt" // begin a session, send prompts and remarks
)

// Scopes are all of them.
func Scopes() []Scope { return []Scope{Look, Answer, Prompt} }

// Device is one that the user let in.
type Device struct {
	ID     string    `json:"id"`
	Name   string    `json:"name"`
	May    []Scope   `json:"may"`
	Paired time.Time `json:"paired"`
	Hash   string    `json:"token_sha256"` // the token itself is kept nowhere
}

// Has tells whether the device may do something.
func (d Device) Has(s Scope) bool { return slices.Contains(d.May, s) }

// Errors of a device, or of its name.
var (
	ErrUnknown   = errors.New("the token is of no device that is paired: it was revoked, or it never was")
	ErrNoDevice  = errors.New("no device has this id; adze serve devices list shows them")
	ErrAmbiguous = errors.New("several devices have an id that begins so; give more of it")
)

// Devices are the devices that are paired, in a file. Several processes may use it.
type Devices struct {
	Path string
	Now  func() time.Time // the clock; if nil, time.Now

	mu    sync.Mutex
	state fs.FileInfo // of the file when it was read
	all   []Device
}

// All are the devices, the oldest first.
func (b *Devices) All() ([]Device, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	err := b.read()
	return slices.Clone(b.all), err
}

// read reads the file if it is another one than before. It is replaced as a whole whenever it
// changes. The caller holds b.mu.
func (b *Devices) read() error {
	info, err := os.Stat(b.Path)
	if errors.Is(err, fs.ErrNotExist) {
		b.all, b.state = nil, nil
		return nil
	}
	if err == nil && b.state != nil && os.SameFile(info, b.state) && info.ModTime().Equal(b.state.ModTime()) && info.Size() == b.state.Size() {
		return nil
	}
	b.all, b.state = nil, nil // without a list nobody is let in
	var raw []byte
	if err == nil {
		raw, err = os.ReadFile(b.Path)
	}
	if err != nil {
		return fmt.Errorf("read the paired devices: %w", err)
	}
	in := json.NewDecoder(bytes.NewReader(raw))
	in.DisallowUnknownFields()
	var all []Device
	if err := in.Decode(&all); err != nil {
		return fmt.Errorf("the list of paired devices in %s cannot be read: %w; remove the file to pair them anew", b.Path, err)
	}
	b.all, b.state = all, info
	return nil
}

// Add lets a device in, and returns its token, which is kept nowhere.
func (b *Devices) Add(name string, may []Scope) (token string, d Device, err error) {
	token = NewToken()
	var id [4]byte
	_, _ = rand.Read(id[:]) // crypto/rand.Read never fails since Go 1.24
	now := time.Now
	if b.Now != nil {
		now = b.Now
	}
	d = Device{ID: hex.EncodeToString(id[:]), Name: name, May: may, Paired: now().UTC().Truncate(time.Second), Hash: hashOf(token)}
	err = b.change(func(all []Device) ([]Device, error) { return append(all, d), nil })
	return token, d, err
}

// Revoke takes the device away whose id begins so. Its token is worth nothing at once.
func (b *Devices) Revoke(prefix string) (d Device, err error) {
	err = b.change(func(all []Device) ([]Device, error) {
		begins := func(d Device) bool { return strings.HasPrefix(d.ID, prefix) }
		at := slices.IndexFunc(all, begins)
		if at < 0 || prefix == "" {
			return nil, ErrNoDevice
		}
		if slices.ContainsFunc(all[at+1:], begins) {
			return nil, ErrAmbiguous
		}
		d = all[at]
		return slices.Delete(all, at, at+1), nil
	})
	return d, err
}

func (b *Devices) change(what func([]Device) ([]Device, error)) error {
	if err := os.MkdirAll(filepath.Dir(b.Path), 0o700); err != nil {
		return fmt.Errorf("keep the paired devices: %w", err)
	}
	unlock, err := filelock.Wait(context.Background(), b.Path+".lock")
	if err != nil {
		return fmt.Errorf("lock the paired devices: %w", err)
	}
	defer unlock()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.state = nil // whatever the time of the file says
	if err := b.read(); err != nil {
		return err
	}
	all, err := what(slices.Clone(b.all))
	if err != nil {
		return err
	}
	raw, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	if err := atomicfile.Write(b.Path, append(raw, '\n')); err != nil {
		return fmt.Errorf("keep the paired devices: %w", err)
	}
	b.state = nil
	return nil
}

// Find is the device that has a token. The error is ErrUnknown if none has.
func (b *Devices) Find(token string) (Device, error) {
	all, err := b.All()
	if err != nil {
		return Device{}, err
	}
	hash, found := []byte(hashOf(token)), -1
	for i, d := range all {
		if subtle.ConstantTimeCompare(hash, []byte(d.Hash)) == 1 {
			found = i
		}
	}
	if found < 0 || token == "" {
		return Device{}, ErrUnknown
	}
	return all[found], nil
}

// hashOf is what is kept of a token. It has 256 random bits, so that one plain hash is enough.
func hashOf(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}
