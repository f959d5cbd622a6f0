package batch

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/text/lineread"
)

// maxLine bounds a task, in bytes: a prompt of this length would not fit a usual model.
const maxLine = 1 << 20

// maxMistakes bounds how many broken lines are told.
const maxMistakes = 20

// Task is one line of the file.
type Task struct {
	ID string `json:"id,omitempty"`
	// Repo is a repository as git clone takes it, Folder one of this machine, also without git; one
	// of them is needed.
	Repo   string `json:"repo,omitempty"`
	Folder string `json:"folder,omitempty"`
	Ref    string `json:"ref,omitempty"` // a branch, tag or commit; if empty, what the repository has checked out
	// Prompt is asked of a model, Command is run by the shell; one of them is needed.
	Prompt  string   `json:"prompt,omitempty"`
	Command string   `json:"command,omitempty"`
	Flags   []string `json:"flags,omitempty"` // of adze --print
	Check   string   `json:"check,omitempty"` // a command that must succeed afterwards
	// Branch is pushed to the repository where that is asked for and the task succeeded; Message is
	// of its commit.
	Branch  string            `json:"branch,omitempty"`
	Message string            `json:"message,omitempty"`
	Labels  map[string]string `json:"labels,omitempty"`

	Line int `json:"-"`
}

// Mistakes are lines that are no tasks.
type Mistakes struct {
	Lines []string // what is wrong, each with its line
	More  int
}

// Error lists them.
func (m *Mistakes) Error() string {
	text := strings.Join(m.Lines, "\n")
	if m.More > 0 {
		text += fmt.Sprintf("\nand %d more", m.More)
	}
	return text
}

func (m *Mistakes) add(line int, err error) {
	if len(m.Lines) == maxMistakes {
		m.More++
		return
	}
	m.Lines = append(m.Lines, fmt.Sprintf("line %d: %v", line, err))
}

// Read reads tasks, one JSON object a line; empty lines and those that begin with # count for
// nothing. Relative paths are taken from dir. Flags says what is wrong with a task's flags. All
// mistakes are found before anything is done.
func Read(in io.Reader, dir string, flags func([]string) error) ([]Task, error) {
	var tasks []Task
	wrong, seen := &Mistakes{}, map[string]int{}
	r := lineread.New(in, maxLine)
	for n := 1; ; n++ {
		line, err := r.Next()
		if errors.Is(err, lineread.ErrLong) {
			err = errLong
		}
		if err == io.EOF {
			break
		}
		if text := bytes.TrimSpace(line); err == nil && (len(text) == 0 || text[0] == '#') {
			continue
		}
		var t Task
		if err == nil {
			t, err = parse(line, dir, flags)
		}
		if t.Line = n; err == nil && seen[t.ID] > 0 {
			err = taskError{fmt.Errorf("the task of line %d has the same id (%s); give one of them another \"id\"", seen[t.ID], t.ID)}
		}
		if err != nil {
			if !errors.As(err, &taskError{}) {
				return nil, err
			}
			wrong.add(n, err)
			continue
		}
		seen[t.ID] = n
		tasks = append(tasks, t)
	}
	if len(wrong.Lines) > 0 {
		return nil, wrong
	}
	return tasks, nil
}

var errLong = taskError{fmt.Errorf("it is longer than %d KiB; put what is long into a file of the repository, or let a prompt name it", maxLine>>10)}

// taskError is a mistake in a line, and no failure to read it.
type taskError struct{ error }

// letters are those that ids and branches are made of.
const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

// sound says whether a name is of letters and what else it may have, but for its first character,
// and at most so long.
func sound(name, also string, most int) bool {
	return name != "" && len(name) <= most && strings.Trim(name, letters+also) == "" && strings.Contains(letters, name[:1]) && !strings.HasSuffix(name, ".lock")
}

func parse(line []byte, dir string, flags func([]string) error) (t Task, err error) {
	defer func() {
		if err != nil {
			err = taskError{err}
		}
	}()
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&t); err != nil {
		return t, fmt.Errorf("it is no task: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	if d.More() {
		return t, errors.New("more than one JSON value stands in it; write one task a line")
	}
	if err := t.whole(flags); err != nil {
		return t, err
	}
	if t.Folder != "" && !filepath.IsAbs(t.Folder) {
		t.Folder = filepath.Join(dir, t.Folder)
	}
	if t.IsPath() && !filepath.IsAbs(t.Repo) {
		t.Repo = filepath.Join(dir, t.Repo)
	}
	if t.ID == "" {
		raw, _ := json.Marshal(t) // of strings: it cannot fail
		sum := sha256.Sum256(raw)
		t.ID = hex.EncodeToString(sum[:6])
	}
	return t, nil
}

// whole says what is missing, or too much.
func (t Task) whole(flags func([]string) error) error {
	switch {
	case (t.Repo == "") == (t.Folder == ""):
		return errors.New(`it needs "repo" or "folder", one of them`)
	case (strings.TrimSpace(t.Prompt) == "") == (strings.TrimSpace(t.Command) == ""):
		return errors.New(`it needs "prompt" or "command", one of them`)
	case t.ID != "" && !sound(t.ID, ".-", 64):
		return fmt.Errorf("an id has letters, digits, . _ and - (at most 64), as it names files, and not %q", t.ID)
	case strings.HasPrefix(t.Repo, "-") || strings.HasPrefix(t.Ref, "-") || strings.HasPrefix(t.Folder, "-"):
		return errors.New("a repository, folder or ref does not begin with -")
	case strings.Contains(t.Repo, "::"):
		return fmt.Errorf("%q would have git start a program; use https, ssh, git or file", t.Repo)
	case t.Branch != "" && (!sound(t.Branch, "./-", 200) || strings.Contains(t.Branch, "..") || strings.Contains(t.Branch, "//") || strings.HasSuffix(t.Branch, "/")):
		return fmt.Errorf("%q is no name of a branch", t.Branch)
	case t.Branch != "" && t.Folder != "":
		return errors.New(`a branch is pushed to a "repo"`)
	case slices.ContainsFunc([]string{t.Repo, t.Folder, t.Ref, t.Command, t.Check, t.Prompt}, func(s string) bool { return strings.ContainsRune(s, 0) }):
		return errors.New("there is a NUL in it")
	}
	if err := flags(t.Flags); err != nil {
		return fmt.Errorf("flags: %w", err)
	}
	return nil
}

// Sound says what is wrong with a task that somebody else sent: Read has looked at it, or not.
func (t Task) Sound() error {
	if t.ID == "" {
		return errors.New("it has no id")
	}
	return t.whole(func([]string) error { return nil })
}

// IsPath reports a repository on this machine: git takes what has a colon before the first slash
// for a host.
func (t Task) IsPath() bool {
	before, _, _ := strings.Cut(t.Repo, "/")
	return t.Repo != "" && !strings.Contains(before, ":")
}

// Source is where a task's files come from, as the user wrote it.
func (t Task) Source() string { return t.Repo + t.Folder }
