//go:build unix

package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"adze/internal/osfile/filelock"
)

// running is what is written down while a command works on the live tree, so that the next start
// tells what it left where adze is killed. The process that wrote it holds its file locked.
type running struct {
	Workspace string
	Started   time.Time
	Known     map[string][]string // see lookout
	Inside    map[string][]string
	Waits     []string
}

func runningDir(state string) string { return filepath.Join(state, "sandbox", "running") }

// noted writes down what is known before a command that works on the live tree; release takes it
// away, and what is held for the command.
func (s *Sandbox) noted(started time.Time, release func()) (func(), error) {
	done, err := s.lookout.note(s.o.State, started)
	if err != nil {
		release()
		return nil, fmt.Errorf("cannot note that it works on the files themselves: %w", err)
	}
	return func() { done(); release() }, nil
}

// note writes down what the lookout knows before a command. The file goes when done is called.
func (l *lookout) note(state string, started time.Time) (done func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	dir := runningDir(state)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(dir, "")
	if err != nil {
		return nil, err
	}
	done = func() {
		_ = os.Remove(f.Name())
		_ = f.Close()
	}
	err = filelock.TryFile(f)
	if err == nil {
		err = json.NewEncoder(f).Encode(running{l.tree.root, started, l.known, l.inside, l.waits})
	}
	if err != nil {
		done()
		return nil, err
	}
	return done, nil
}

// left tells what commands of killed processes left in a workspace that other programs act on. All
// of it stays: somebody else may have made it since.
func left(state, workspace string) (told []string, err error) {
	entries, _ := os.ReadDir(runningDir(state)) // there may be none
	for _, e := range entries {
		path := filepath.Join(runningDir(state), e.Name())
		f, openErr := os.OpenFile(path, os.O_RDWR|unix.O_NOFOLLOW, 0)
		if openErr != nil {
			continue // its command has ended
		}
		var r running
		if json.NewDecoder(f).Decode(&r) == nil && r.Workspace == workspace && filelock.TryFile(f) == nil {
			l := lookout{ready: true, tells: true, tree: tree{root: workspace}, own: filepath.Join(workspace, ".git"), known: r.Known, inside: r.Inside, waits: r.Waits}
			for _, text := range l.end(r.Started, &plan{}) {
				told = append(told, "since a command ran when adze was killed: "+text)
			}
			err = errors.Join(err, os.Remove(path))
		}
		err = errors.Join(err, f.Close())
	}
	return told, err
}
