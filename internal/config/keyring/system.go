package keyring

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	ring "github.com/zalando/go-keyring"
)

// service is the name under which a keyring lists adze's keys.
const service = "adze"

// patience bounds a keyring call: the keyring may have to start and the user to unlock it. Without
// a bound, a window that nobody sees would block forever.
const patience = 20 * time.Second

// slow is the delay before the user is notified.
const slow = time.Second

// OfSystem returns this system's keyring: Secret Service on Linux, Keychain, or Credential Manager.
// It returns nil without a session bus, since the call would start one that keeps running. told is
// called if a keyring call is slow; it may be nil.
func OfSystem(getenv func(string) string, told func()) System {
	name := map[string]string{"darwin": "the Keychain", "windows": "the Credential Manager"}[runtime.GOOS]
	if name == "" {
		if !hasBus(getenv) {
			return nil
		}
		name = "the key ring of your desktop"
	}
	return system{name, told}
}

func hasBus(getenv func(string) string) bool {
	if at := getenv("DBUS_SESSION_BUS_ADDRESS"); at != "" {
		return !strings.HasPrefix(at, "autolaunch:")
	}
	dir := getenv("XDG_RUNTIME_DIR")
	_, err := os.Stat(filepath.Join(dir, "bus"))
	return dir != "" && err == nil
}

type system struct {
	name string
	told func()
}

// Name implements System.
func (s system) Name() string { return s.name }

// Get implements System.
func (s system) Get(account string) (key string, err error) {
	return s.within(func() (string, error) { return ring.Get(service, account) })
}

// Set implements System.
func (s system) Set(account, key string) error {
	_, err := s.within(func() (string, error) { return "", ring.Set(service, account, key) })
	return err
}

// Delete implements System.
func (s system) Delete(account string) error {
	_, err := s.within(func() (string, error) { return "", ring.Delete(service, account) })
	return err
}

// within runs ask with the time limit and abandons it after that.
func (s system) within(ask func() (string, error)) (string, error) {
	type answer struct {
		key string
		err error
	}
	done := make(chan answer, 1)
	go func() {
		key, err := ask()
		done <- answer{key, err}
	}()
	hint, end := time.After(slow), time.After(patience)
	for {
		select {
		case a := <-done:
			if errors.Is(a.err, ring.ErrNotFound) {
				a.err = ErrNone
			}
			return a.key, a.err
		case <-hint:
			if s.told != nil {
				s.told()
			}
		case <-end:
			return "", errors.New("it did not answer; it may wait to be unlocked in a window")
		}
	}
}
