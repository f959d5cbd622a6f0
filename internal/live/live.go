// Package live lets the user's other processes watch and steer a session: another terminal, the
// page of adze serve, an editor.
//
// The one rule: a watcher never blocks the session. A slow one is informed how much it missed, and
// continues from the log. Its lines are handled like all other input of the session.
//
// The process that writes a session listens on a socket that only the user can reach (Folder). It
// sends hello first, and a client answers with a watch line. Then follow the log as lines of
// --output-format stream-json, a live line, and new events. A client sends the lines of
// --input-format stream-json, and take, which makes the owner release the session.
//
// Start reading at Owner.serve, then news.go (unlogged events), watcher.go (one client's lines),
// peer.go (access control), client.go (the other side) and sessions.go (all sessions).
//
// Windows has named pipes instead of sockets (pipe_windows.go).
//
// Known limits: a program started before a call that acts on the call's behalf, such as the user's
// tmux server, is not recognized as part of that call.
package live

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"adze/session"
)

// Protocol is the version of the lines. It changes when a line is removed or changes its meaning;
// lines and fields may be added without.
const Protocol = "adze.live/1"

// Errors for callers to test.
var (
	// ErrUnavailable means this system does not support watching sessions.
	ErrUnavailable = errors.New("live sessions cannot be watched on this system")
	// ErrNobody means no process has the session open.
	ErrNobody = errors.New("nobody has the session open")
	// ErrRefused means the owner refuses this process.
	ErrRefused = errors.New("the owner of the session refused")
	// ErrLong means a line exceeds the owner's limit.
	ErrLong = errors.New("that is more than fits into one message; name the path of a large file instead")
	// ErrKilled means the owner was killed or crashed.
	ErrKilled = errors.New("the process that had the session was killed; the session goes on from its log")
	// ErrAnswered is the cancellation cause of a question answered elsewhere.
	ErrAnswered = errors.New("the question was answered elsewhere")
)

// A State is a session's activity.
type State string

const (
	Working State = "working" // a turn runs
	Waiting State = "waiting" // for the user's answer
	Idle    State = "idle"    // for a prompt
)

// Hello is an owner's first line.
type Hello struct {
	Type     string     `json:"type"` // hello
	Protocol string     `json:"protocol"`
	Version  string     `json:"version"`
	Session  session.ID `json:"session"`
	Position int64      `json:"position"` // of the log's newest entry
	Title    string     `json:"title,omitempty"`
	Cwd      string     `json:"cwd"`
	Provider string     `json:"provider"`
	Model    string     `json:"model"`
	Mode     string     `json:"permission_mode"`
	Effort   string     `json:"effort,omitempty"`
	PID      int        `json:"pid"`
	// Window is set if the owner has its own terminal, editor or page; otherwise only clients
	// answer its questions.
	Window     bool      `json:"window"`
	OwnedSince time.Time `json:"since"` // start of ownership
	Status
}

// Status is the changing part of a session's description.
type Status struct {
	State State `json:"state"`
	// Activity is the waiting question, or else the newest running call's title. It is empty if the
	// model thinks or nothing runs.
	Activity  string  `json:"doing,omitempty"`
	Questions int     `json:"questions"` // waiting
	Cost      float64 `json:"cost_usd"`  // of this process, as far as prices are known
	Works
}

// Types of lines in addition to those of --output-format stream-json.
const (
	helloLine    = "hello"
	liveLine     = "live"     // end of the log; events follow
	missedLine   = "missed"   // events were dropped; the log follows
	stateLine    = "state"    // Status
	viewLine     = "view"     // a call's blocks
	questionLine = "question" // as encoded by lineprotocol
	answeredLine = "answered" // a question no longer waits
	anewLine     = "anew"     // earlier lines may be outdated; reread the log
	acceptedLine = "accepted" // this client's line took effect
	unreadLine   = "unread"   // this client's line had no effect
	refusedLine  = "refused"  // this client is refused
	closingLine  = "closing"  // the owner releases the session
)

const end = ".sock"

// Folder returns the folder of sockets for the sessions in state: below the user's runtime folder,
// else in state itself or, if that path is too long for a socket, in the temporary folder.
func Folder(getenv func(string) string, state string) string {
	sum := sha256.Sum256([]byte(state))
	short := hex.EncodeToString(sum[:4])
	if dir := getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) && private(dir) == nil {
		if folder := filepath.Join(dir, "adze", short); fits(folder) {
			return folder
		}
	}
	if folder := filepath.Join(state, "live"); fits(folder) {
		return folder
	}
	return filepath.Join(os.TempDir(), "adze-"+user(), short)
}

func fits(folder string) bool {
	return len(filepath.Join(folder, strings.Repeat("x", longestName)+end)) <= longestPath
}

// longestName limits a socket's name, without its extension.
const longestName = 32

func path(folder string, id session.ID) string {
	name := string(id)
	plain := func(r rune) bool {
		return r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
	}
	if name == "" || len(name) > longestName || strings.ContainsFunc(name, func(r rune) bool { return !plain(r) }) {
		sum := sha256.Sum256([]byte(id))
		name = hex.EncodeToString(sum[:longestName/2])
	}
	return filepath.Join(folder, name+end)
}

// patience is how long List waits for one owner, which may be suspended.
const patience = 2 * time.Second

// List connects to each owner in folder and returns their hellos, sorted by socket name. It skips
// killed owners.
func List(ctx context.Context, folder string) ([]Hello, error) {
	names, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []Hello
	for _, e := range names {
		if filepath.Ext(e.Name()) != end {
			continue
		}
		brief, cancel := context.WithTimeout(ctx, patience)
		c, err := dial(brief, filepath.Join(folder, e.Name()))
		cancel()
		if err != nil {
			continue // ended, killed or suspended
		}
		out = append(out, c.Hello)
		_ = c.Close() // nothing was sent
	}
	return out, ctx.Err()
}
