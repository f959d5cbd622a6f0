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

// maxLine limits a task, in bytes: a longer prompt would not fit most models.
const maxLine = 1 << 20

const maxMistakes = 20

// A Task is one line of the file.
type Task struct {
	ID string `json:"id,omitempty"`
	// Repo is a repository for git clone, Folder a local folder, also without git. One of them is
	// required.
	Repo   string `json:"repo,omitempty"`
	Folder string `json:"folder,omitempty"`
	Ref    string `json:"ref,omitempty"` // branch, tag or commit; "" for the repository's current one
	// Prompt is for a model, Command for the shell. One of them is required.
	Prompt  string   `json:"prompt,omitempty"`
	Command string   `json:"command,omitempty"`
	Flags   []string `json:"flags,omitempty"` // for adze --print
	Check   string   `json:"check,omitempty"` // command that must succeed afterwards
	// Branch is pushed to the repository if pushing is enabled and the task succeeded; Message is
	// its commit message.
	Branch  string            `json:"branch,omitempty"`
	Message string            `json:"message,omitempty"`
	Labels  map[string]string `json:"labels,omitempty"`

	Line int `json:"-"`
}

// Mistakes lists the invalid lines of a file.
type Mistakes struct {
	Lines   []string // errors with their line numbers
	Omitted int
}

// Error lists them.
func (m *Mistakes) Error() string {
	text := strings.Join(m.Lines, "\n")
	if m.Omitted > 0 {
		text += fmt.Sprintf("\nand %d more", m.Omitted)
	}
	return text
}

func (m *Mistakes) add(line int, err error) {
	if len(m.Lines) == maxMistakes {
		m.Omitted++
		return
	}
	m.Lines = append(m.Lines, fmt.Sprintf("line %d: %v", line, err))
}

// Read reads tasks, one JSON object a line, and skips empty lines and those that begin with #.
// Relative paths start at dir. flags checks a task's flags. It reports all mistakes at once.
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

// taskError is an invalid line, as opposed to a read error.
type taskError struct{ error }

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

// sound reports whether name consists of at most most bytes from letters and also, begins with a
// letter, and does not end with .lock.
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
		raw, _ := json.Marshal(t) // strings always encode
		sum := sha256.Sum256(raw)
		t.ID = hex.EncodeToString(sum[:6])
	}
	return t, nil
}

// whole returns an error for missing or surplus fields.
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

// Validate returns an error for an invalid task from another machine, which Read may not have
// checked.
func (t Task) Validate() error {
	if t.ID == "" {
		return errors.New("it has no id")
	}
	return t.whole(func([]string) error { return nil })
}

// IsPath reports whether the repository is local: git treats a colon before the first slash as the
// end of a host name.
func (t Task) IsPath() bool {
	before, _, _ := strings.Cut(t.Repo, "/")
	return t.Repo != "" && !strings.Contains(before, ":")
}

// Source returns the task's repository or folder as the user wrote it.
func (t Task) Source() string { return t.Repo + t.Folder }
