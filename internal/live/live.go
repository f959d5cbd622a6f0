// Package live lets the sessions of one user be watched and steered by other processes of that
// user: another terminal, the page of adze serve, an editor.
//
// The one rule: a watcher never holds the session. One that reads too slowly is told how much it
// missed, and goes on from the log. Its lines take the way of every other input of the session.
//
// The process that writes a session listens on a socket of its own, which only the user can reach
// (Folder). It says hello first. A client answers with a watch line. Then come the log as lines of
// --output-format stream-json, a live line, and the events from there on. A client sends the lines
// of --input-format stream-json, and take, with which the owner lets the session go.
//
// Start reading at Owner.serve, then news.go (what happens), watcher.go (the lines for one
// client), peer.go (who may connect), client.go (the other side) and sessions.go (all sessions).
//
// Windows has named pipes in place of sockets (pipe_windows.go).
//
// Known limits: a program that ran before a call and does what the call tells it, such as a user's
// tmux server, is not known to belong to that call.
package live

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"adze/session"
)

// Protocol names the version of the lines. It changes when a line changes its meaning or goes; new
// lines and fields may come without.
const Protocol = "adze.live/1"

// Errors that callers decide by.
var (
	// ErrUnavailable means that sessions cannot be watched on this system.
	ErrUnavailable = errors.New("live sessions cannot be watched on this system")
	// ErrNobody means that no process has the session.
	ErrNobody = errors.New("nobody has the session open")
	// ErrRefused means that the owner does not talk with this process.
	ErrRefused = errors.New("the owner of the session refused")
	// ErrLong means that a line is longer than an owner reads.
	ErrLong = errors.New("that is more than fits into one message; name the path of a large file instead")
	// ErrKilled means that the owner ended without a word: it was killed or crashed.
	ErrKilled = errors.New("the process that had the session was killed; the session goes on from its log")
	// ErrAnswered is why a window asks no more: the answer came from somewhere else.
	ErrAnswered = errors.New("the question was answered elsewhere")
)

// State says what a session does.
type State string

// The states of a session that lives.
const (
	Working State = "working" // a turn runs
	Waiting State = "waiting" // for an answer of the user
	Idle    State = "idle"    // for a prompt
)

// Hello is the first line of an owner.
type Hello struct {
	Type     string     `json:"type"` // hello
	Protocol string     `json:"protocol"`
	Version  string     `json:"version"`
	Session  session.ID `json:"session"`
	Position int64      `json:"position"` // of the newest entry in the log
	Title    string     `json:"title,omitempty"`
	Cwd      string     `json:"cwd"`
	Provider string     `json:"provider"`
	Model    string     `json:"model"`
	Mode     string     `json:"permission_mode"`
	Effort   string     `json:"effort,omitempty"`
	PID      int        `json:"pid"`
	// Window says that the owner has a terminal, an editor or a page of its own; without one, only
	// clients answer its questions.
	Window bool      `json:"window"`
	Since  time.Time `json:"since"` // it has the session
	Status
}

// Status is what changes while a session works.
type Status struct {
	State State `json:"state"`
	// Doing is what waits for an answer, else the title of the newest call that runs; if empty, the
	// model thinks or nothing runs.
	Doing     string  `json:"doing,omitempty"`
	Questions int     `json:"questions"` // that wait
	Cost      float64 `json:"cost_usd"`  // of this process, where prices are known
	Works
}

// same reports equal states. Each event asks it, and reflect.DeepEqual would allocate both.
func (s Status) same(as Status) bool {
	return s.State == as.State && s.Doing == as.Doing && s.Questions == as.Questions && s.Cost == as.Cost && s.Mode == as.Mode &&
		s.Effort == as.Effort && slices.Equal(s.Queued, as.Queued) && slices.Equal(s.Steered, as.Steered)
}

// The types of lines that only an owner's socket has, beside those of --output-format stream-json.
const (
	helloLine    = "hello"
	liveLine     = "live"     // the log ends here; what follows happens now
	missedLine   = "missed"   // events were dropped; the log follows
	stateLine    = "state"    // Status
	viewLine     = "view"     // what a pane draws of a call: its blocks
	questionLine = "question" // as lineprotocol puts it
	answeredLine = "answered" // a question waits no more
	anewLine     = "anew"     // what was told may hold no more; the log does
	acceptedLine = "accepted" // a line of this client had its effect
	unreadLine   = "unread"   // a line of this client had none
	refusedLine  = "refused"  // this client is not talked with
	closingLine  = "closing"  // the owner lets go of the session
)

// end is how the name of a socket ends.
const end = ".sock"

// Folder is where the sockets of the sessions in state are: below the runtime folder of the user,
// else in state itself, else, where that path is too long for a socket, in the folder for temporary
// files.
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

// longestName is the longest name of a socket without its end.
const longestName = 32

// path is where the owner of a session listens.
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

// patience is how long List waits for one owner, which may be stopped by a signal.
const patience = 2 * time.Second

// List says hello to each owner in folder, and returns what they say, by the name of their sockets.
// An owner that was killed is not among them.
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
			continue // it has just ended, was killed or is stopped
		}
		out = append(out, c.Hello)
		_ = c.Close() // nothing was sent
	}
	return out, ctx.Err()
}
