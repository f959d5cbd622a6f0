package batch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"adze/internal/osfile/atomicfile"
	"adze/session"
	"adze/tool"
)

// Causes of results in addition to session.Cause.
const (
	CauseDone       = string(session.CauseDone)
	CauseRepository = "repository" // not fetched, or without this ref
	CauseCheck      = "check"      // the work was done, but the check failed
	CausePush       = "push"       // the work was done, but the push failed
	CausePatch      = "patch"      // the work was done, but no patch could be made
	CauseDead       = "dead"       // a worker died at every attempt
	CauseCancelled  = "cancelled"
)

// A Result is a task's result, one line of results.jsonl.
type Result struct {
	Task    string            `json:"task"`
	Line    int               `json:"line"`
	Repo    string            `json:"repo,omitempty"`
	Folder  string            `json:"folder,omitempty"`
	Ref     string            `json:"ref,omitempty"`
	Base    string            `json:"base,omitempty"` // commit that the patch applies to
	Labels  map[string]string `json:"labels,omitempty"`
	OK      bool              `json:"ok"`
	Cause   string            `json:"cause"`
	Message string            `json:"message,omitempty"`
	Hint    string            `json:"hint,omitempty"`
	Text    string            `json:"text,omitempty"` // answer, or the command's last output
	Session session.ID        `json:"session,omitempty"`
	Patch   string            `json:"patch,omitempty"` // file below the result folder; "" if nothing changed
	Changed int               `json:"files_changed"`
	Check   *Checked          `json:"check,omitempty"`
	Pushed  string            `json:"pushed,omitempty"` // commit of the pushed branch
	Branch  string            `json:"branch,omitempty"`
	Worker  string            `json:"worker,omitempty"`

	Usage     map[string]session.Usage       `json:"usage,omitempty"`
	Cost      *float64                       `json:"cost_usd"`
	Turns     int                            `json:"turns"`
	Calls     map[string]map[tool.Status]int `json:"calls,omitempty"`
	Denied    []session.Denial               `json:"denied,omitempty"`
	StartedAt time.Time                      `json:"began"`
	Ended     time.Time                      `json:"ended"`
	// RetryAfter is the pause that the model's provider requires, in ms. It is nil unless a
	// provider's limit ended the work, and 0 if the provider gave no time.
	RetryAfter *int64 `json:"retry_after_ms,omitempty"`
}

// Checked is the result of a check.
type Checked struct {
	Command string `json:"command"`
	OK      bool   `json:"ok"`
	Output  string `json:"output,omitempty"` // end of the output
}

// A Journal is results.jsonl: lines are added completely or not at all, and a task's last one
// counts. stopped.jsonl beside it has the costs of stopped attempts.
type Journal struct {
	dir     string
	mu      sync.Mutex
	file    *os.File
	last    map[string]Result
	added   map[string]bool // by this process
	spent   float64
	stopped float64
}

// openJournal reads the existing results. It cuts a partial last line, left by a crash, and skips
// damaged lines.
func openJournal(dir string) (*Journal, error) {
	f, err := os.OpenFile(filepath.Join(dir, "results.jsonl"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	j := &Journal{dir: dir, file: f, last: map[string]Result{}, added: map[string]bool{}}
	raw, err := io.ReadAll(f)
	end := bytes.LastIndexByte(raw, '\n') + 1
	if err == nil {
		err = f.Truncate(int64(end))
	}
	if err == nil {
		_, err = f.Seek(int64(end), io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	for line := range bytes.Lines(raw[:end]) {
		var r Result
		if json.Unmarshal(line, &r) == nil && r.Task != "" {
			j.keep(r)
		}
	}
	tries, _ := os.ReadFile(filepath.Join(dir, "stopped.jsonl")) // missing until a task is stopped
	for line := range bytes.Lines(tries) {
		var t stoppedTry
		if json.Unmarshal(line, &t) == nil {
			j.stopped += t.Cost
		}
	}
	return j, atomicfile.SyncFolder(dir)
}

func (j *Journal) keep(r Result) {
	if j.last[r.Task] = r; r.Cost != nil {
		j.spent += *r.Cost
	}
}

// Last returns a task's latest result.
func (j *Journal) Last(task string) (Result, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	r, ok := j.last[task]
	return r, ok
}

// isNew reports whether this process added the task's latest result.
func (j *Journal) isNew(task string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.added[task]
}

// cost returns all finished attempts' cost, in USD.
func (j *Journal) cost() float64 { return j.spent + j.stopped }

// Add writes a result to stable storage. On an error the line is not there.
func (j *Journal) Add(r Result) error {
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	at, err := j.file.Seek(0, io.SeekCurrent)
	if err == nil {
		_, err = j.file.Write(append(line, '\n'))
	}
	if err == nil {
		err = j.file.Sync()
	}
	if err != nil {
		_, seek := j.file.Seek(at, io.SeekStart)
		return fmt.Errorf("the result of %s could not be written: %w", r.Task, errors.Join(err, j.file.Truncate(at), seek))
	}
	j.keep(r)
	j.added[r.Task] = true
	return nil
}

type stoppedTry struct {
	Task string  `json:"task"`
	Cost float64 `json:"cost_usd"`
}

func (j *Journal) addStopped(task string, usd float64) error {
	line, err := json.Marshal(stoppedTry{task, usd})
	if err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	f, err := os.OpenFile(filepath.Join(j.dir, "stopped.jsonl"), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	j.stopped += usd
	return errors.Join(err, f.Close())
}

// Close closes the file.
func (j *Journal) Close() error { return j.file.Close() }
