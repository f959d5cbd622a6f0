package live

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// A Peer is the process at a socket's other end.
type Peer struct {
	PID int `json:"pid"`
	UID int `json:"uid"`
	// Kind is the client's kind: terminal, page, editor.
	Kind string `json:"as,omitempty"`
	// Login identifies the user's login. It is empty if the system does not distinguish logins.
	Login string `json:"-"`
}

// String describes the peer for a user.
func (p Peer) String() string {
	if p.Kind == "" {
		return fmt.Sprintf("process %d", p.PID)
	}
	return fmt.Sprintf("%s (process %d)", p.Kind, p.PID)
}

var errOther = errors.New("it is another user's")

// examine identifies the peer, and returns the reason if it is refused. below explains why a
// process belongs to a call of adze, or returns "".
func examine(c connection, below func(pid int) string) (p Peer, refusal string) {
	p, alive, done, err := peerOf(c)
	if errors.Is(err, errOther) {
		return p, err.Error()
	}
	if err != nil {
		return p, "the system does not tell who connects: " + err.Error()
	}
	defer done()
	if p.UID != os.Getuid() {
		return p, errOther.Error()
	}
	if p.PID <= 0 {
		return p, "its process cannot be seen from here, as if it ran in a sandbox"
	}
	why := below(p.PID)
	p.Login = loginOf(p.PID)
	switch {
	case why != "":
		return p, "this process was started by a call of adze: " + why
	case !alive(): // another process may have its number by now
		return p, "it has ended"
	}
	return p, ""
}

// prepare creates the sockets' folder, accessible by the user alone.
func prepare(folder string) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	if above := filepath.Dir(folder); filepath.Dir(above) == filepath.Clean(os.TempDir()) { // others can write there too
		if err := private(above); err != nil {
			return err
		}
	}
	return private(folder)
}
