package live

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Peer is a process at the other end of a socket.
type Peer struct {
	PID int `json:"pid"`
	UID int `json:"uid"`
	// As is what it calls itself: terminal, page, editor.
	As string `json:"as,omitempty"`
	// Login tells one login of the user from another; if empty, the system has no word for it.
	Login string `json:"-"`
}

// String names the peer for a user.
func (p Peer) String() string {
	if p.As == "" {
		return fmt.Sprintf("process %d", p.PID)
	}
	return fmt.Sprintf("%s (process %d)", p.As, p.PID)
}

var errOther = errors.New("it is another user's")

// examine says who is at the other end, and why nobody talks with them. below explains why a
// process belongs to a call of adze; if empty, it belongs to none.
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

// prepare makes the folder of the sockets, which nobody else may reach.
func prepare(folder string) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	if above := filepath.Dir(folder); filepath.Dir(above) == filepath.Clean(os.TempDir()) { // others write there, too
		if err := private(above); err != nil {
			return err
		}
	}
	return private(folder)
}
