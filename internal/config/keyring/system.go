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

// service is the name under which a key ring shows keys of ours.
const service = "adze"

// patience bounds what a key ring is asked: it may have to be started, and a user to unlock it. One
// that shows its window where nobody sees it would hang for ever.
const patience = 20 * time.Second

// slow is how long it is asked before the user is told.
const slow = time.Second

// OfSystem is the key ring of this system: the Secret Service on Linux, the Keychain, the
// Credential Manager. It is nil where none can be: a session bus that is not there would be started
// by the asking, and stay. slow is called when it takes its time; if nil, nobody is told.
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

// within asks, and leaves what does not answer behind.
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
