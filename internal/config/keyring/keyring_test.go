package keyring

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"adze/internal/testkit/posix"
)

// fake is a key ring in memory; it may be broken.
type fake struct {
	mu     sync.Mutex
	keys   map[string]string
	broken error
	asked  int
}

func (f *fake) Name() string { return "the fake ring" }

func (f *fake) Get(account string) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked++
	if key, ok := f.keys[account]; ok || f.broken != nil {
		return key, f.broken
	}
	return "", ErrNone
}

func (f *fake) Set(account, key string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.broken == nil {
		f.keys[account] = key
	}
	return f.broken
}

func (f *fake) Delete(account string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.keys, account)
	return f.broken
}

const host = "api.example.org"

func TestAKeyIsKeptInTheRing(t *testing.T) {
	ring, path := &fake{keys: map[string]string{}}, filepath.Join(t.TempDir(), "state", "keys.json")
	where, why, err := Open(path, ring).Keep("acme", host, "sk-secret", false)
	if err != nil || why != nil || where != ring.Name() {
		t.Fatal(where, why, err)
	}
	if raw, _ := os.ReadFile(path); strings.Contains(string(raw), "sk-secret") {
		t.Errorf("the key stands in the file too: %s", raw)
	}
	s := Open(path, ring)
	if _, err := s.List(); err != nil || ring.asked != 0 {
		t.Errorf("the ring was asked before a key was needed: %d, %v", ring.asked, err)
	}
	for range 2 {
		if key, err := s.Key("acme", host); key != "sk-secret" || err != nil {
			t.Fatal(key, err)
		}
	}
	if ring.asked != 1 {
		t.Errorf("the ring was asked %d times", ring.asked)
	}
	for _, other := range []struct{ provider, host string }{{"acme", "evil.example"}, {"other", host}, {"acme", ""}} {
		if key, err := s.Key(other.provider, other.host); key != "" || err != nil {
			t.Errorf("%v got %q, %v", other, key, err)
		}
	}
	if err := s.Forget("acme"); err != nil || len(ring.keys) > 0 {
		t.Errorf("%v, %v", err, ring.keys)
	}
	if key, err := s.Key("acme", host); key != "" || err != nil {
		t.Errorf("after it was forgotten: %q, %v", key, err)
	}
	if err := s.Forget("acme"); !errors.Is(err, ErrNone) {
		t.Errorf("forgotten twice: %v", err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an empty list stays: %v", err)
	}
}

func TestWithoutARingAKeyIsKeptInAFileOfThePerson(t *testing.T) {
	for name, system := range map[string]System{"none": nil, "broken": &fake{broken: errors.New("locked")}, "not wanted": &fake{keys: map[string]string{}}} {
		path := filepath.Join(t.TempDir(), "keys.json")
		_, why, err := Open(path, system).Keep("acme", host, "sk-secret", name == "not wanted")
		if err != nil || (why != nil) != (name == "broken") {
			t.Fatal(name, why, err)
		}
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
		if key, err := Open(path, nil).Key("acme", host); key != "sk-secret" || err != nil {
			t.Errorf("%s: %q, %v", name, key, err)
		}
	}
}

func TestAFileThatOthersCanReadIsRefused(t *testing.T) {
	for name, spoil := range map[string]func(path string) error{
		"read by the group":  func(p string) error { return os.Chmod(p, 0o640) },
		"read by all":        func(p string) error { return os.Chmod(p, 0o604) },
		"written by a group": func(p string) error { return os.Chmod(p, 0o620) },
		"no JSON":            func(p string) error { return os.WriteFile(p, []byte(`{"acme": "sk-secret"}`), 0o600) },
		"a folder":           func(p string) error { return errors.Join(os.Remove(p), os.Mkdir(p, 0o700)) },
		"a pipe":             func(p string) error { return errors.Join(os.Remove(p), posix.Fifo(t, p)) },
		"too long":           func(p string) error { return os.Truncate(p, maxFile+1) },
	} {
		path := filepath.Join(t.TempDir(), "keys.json")
		if _, _, err := Open(path, nil).Keep("acme", host, "sk-secret", true); err != nil {
			t.Fatal(err)
		}
		if err := spoil(path); err != nil {
			t.Fatal(name, err)
		}
		key, err := Open(path, nil).Key("acme", host)
		var bad *OpenError
		if key != "" || !errors.As(err, &bad) || bad.Hint == "" || strings.Contains(err.Error(), "sk-secret") {
			t.Errorf("%s: %q, %v", name, key, err)
		}
		if _, _, err := Open(path, nil).Keep("b", host, "k", true); err == nil {
			t.Errorf("%s: it was written over", name)
		}
	}
}

// Several processes that keep keys at once lose none.
func TestKeepersDoNotLoseEachOthersKeys(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys.json")
	var all sync.WaitGroup
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		all.Go(func() {
			if _, _, err := Open(path, nil).Keep(name, host, "k"+name, true); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if has, err := Open(path, nil).List(); err != nil || strings.Join(has, "") != "abcdef" {
		t.Errorf("%v, %v", has, err)
	}
}

func TestNoRingIsStartedByAsking(t *testing.T) {
	dir := t.TempDir()
	for _, env := range []map[string]string{{}, {"DBUS_SESSION_BUS_ADDRESS": "autolaunch:"}, {"XDG_RUNTIME_DIR": dir}} {
		if hasBus(func(name string) string { return env[name] }) {
			t.Errorf("%v has a bus", env)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "bus"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, env := range []map[string]string{{"DBUS_SESSION_BUS_ADDRESS": "unix:path=/x"}, {"XDG_RUNTIME_DIR": dir}} {
		if !hasBus(func(name string) string { return env[name] }) {
			t.Errorf("%v has no bus", env)
		}
	}
}
