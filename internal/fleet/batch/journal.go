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

	"adze/internal/files/atomicfile"
	"adze/session"
	"adze/tool"
)

// Causes of results beside those of a run (session.Cause).
const (
	CauseDone       = string(session.CauseDone)
	CauseRepository = "repository" // it could not be fetched, or has no such ref
	CauseCheck      = "check"      // the work was done, and the check failed
	CausePush       = "push"       // the work was done, and its branch could not be pushed
	CausePatch      = "patch"      // the work was done, and no patch could be made of it
	CauseUnseen     = "unseen"     // a command was begun and nobody saw its end
)

// Result is what came of a task: one line of results.jsonl.
type Result struct {
	Task    string            `json:"task"`
	Line    int               `json:"line"`
	Repo    string            `json:"repo,omitempty"`
	Folder  string            `json:"folder,omitempty"`
	Ref     string            `json:"ref,omitempty"`
	Base    string            `json:"base,omitempty"` // the commit that the patch is against
	Labels  map[string]string `json:"labels,omitempty"`
	OK      bool              `json:"ok"`
	Cause   string            `json:"cause"`
	Message string            `json:"message,omitempty"`
	Hint    string            `json:"hint,omitempty"`
	Text    string            `json:"text,omitempty"` // the answer, or the end of what the command wrote
	Session session.ID        `json:"session,omitempty"`
	Patch   string            `json:"patch,omitempty"` // its file, below the folder of results; if empty, nothing changed
	Changed int               `json:"files_changed"`
	Check   *Checked          `json:"check,omitempty"`
	Pushed  string            `json:"pushed,omitempty"` // the commit that the branch now is at
	Branch  string            `json:"branch,omitempty"`

	Usage   map[string]session.Usage       `json:"usage,omitempty"`
	Cost    *float64                       `json:"cost_usd"`
	Turns   int                            `json:"turns"`
	Calls   map[string]map[tool.Status]int `json:"calls,omitempty"`
	Denied  []session.Denial               `json:"denied,omitempty"`
	Began   time.Time                      `json:"began"`
	Ended   time.Time                      `json:"ended"`
	Resumed int                            `json:"resumed,omitempty"` // how often it went on after a batch was stopped
	// RetryAfter is how long the provider of the model wants nothing more, in ms; if nil, it was not
	// its limit that ended the work. if 0, it named no time.
	RetryAfter *int64 `json:"retry_after_ms,omitempty"`
	// Crashed says that the adze that did the work ended without a word about it.
	Crashed bool `json:"-"`
}

// Checked is what the check said.
type Checked struct {
	Command string `json:"command"`
	OK      bool   `json:"ok"`
	Output  string `json:"output,omitempty"` // its end
}

// journal is results.jsonl: a line is whole or it is not there, and the last of a task counts.
type journal struct {
	mu   sync.Mutex
	file *os.File
	last map[string]Result
	all  []Result
}

// openJournal reads what is there. What a crash left of a line is cut off; a line that is damaged
// in the middle is no result.
func openJournal(path string) (*journal, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	j := &journal{file: f, last: map[string]Result{}}
	raw, err := io.ReadAll(f)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	end := bytes.LastIndexByte(raw, '\n') + 1
	for line := range bytes.Lines(raw[:end]) {
		var r Result
		if json.Unmarshal(line, &r) == nil && r.Task != "" {
			j.keep(r)
		}
	}
	if err := f.Truncate(int64(end)); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if _, err := f.Seek(int64(end), io.SeekStart); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return j, atomicfile.SyncFolder(filepath.Dir(path))
}

func (j *journal) keep(r Result) { j.last[r.Task], j.all = r, append(j.all, r) }

// Last is the newest result of a task.
func (j *journal) Last(task string) (Result, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	r, ok := j.last[task]
	return r, ok
}

// cost is what all results have cost, also those that were followed by another one.
func (j *journal) cost() (sum float64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, r := range j.all {
		if r.Cost != nil {
			sum += *r.Cost
		}
	}
	return sum
}

// Add writes a result so that it survives a power cut. After an error the line is not there.
func (j *journal) Add(r Result) error {
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
	return nil
}

func (j *journal) Close() error { return j.file.Close() }
