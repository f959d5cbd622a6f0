package dialect

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// entry is a file's element: a program, or a matcher with programs.
type entry struct {
	Type    string          `json:"type"`
	Command any             `json:"command"` // shell text; in adze's dialect a list is a program
	Args    []string        `json:"args"`
	Tools   string          `json:"tools"` // adze's name for matcher
	Env     map[string]any  `json:"env"`
	Cwd     string          `json:"cwd"`
	URL     string          `json:"url"`
	If      string          `json:"if"`
	Async   bool            `json:"async"`
	Shell   string          `json:"shell"`
	Timeout any             `json:"timeout"`
	Matcher any             `json:"matcher"`
	Hooks   json.RawMessage `json:"hooks"`

	unknown string // error in its names
}

// unknown returns an entry's name that adze's dialect does not have: with a misspelled "tools" the
// hook would match every tool.
func unknown(one json.RawMessage) string {
	var own struct {
		Tools   string          `json:"tools"`
		Command json.RawMessage `json:"command"`
		Timeout string          `json:"timeout"`
		About   string          `json:"description"`
	}
	dec := json.NewDecoder(bytes.NewReader(one))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&own); err != nil {
		return "an entry has tools, command, timeout and description: " + strings.TrimPrefix(err.Error(), "json: ")
	}
	return ""
}

// hook returns one program, or false if there is no command.
func (d Dialect) hook(name string, e entry, matcher string) (h Hook, some bool) {
	h = Hook{Dialect: d, Native: name, Matcher: matcher}
	if !h.program(e) && e.URL == "" && e.Type == "" {
		return h, false
	}
	h.Event, h.depth, h.status = d.native(name)
	var err error
	if h.match, err = compile(matcher); err != nil {
		h.Unsupported = err.Error()
	}
	if err := h.time(e.Timeout); err != nil {
		h.Unsupported = err.Error()
	}
	if why := d.cannot(h, e); why != "" {
		h.Unsupported = why
	}
	return h, true
}

// program sets the command.
func (h *Hook) program(e entry) bool {
	switch c := e.Command.(type) {
	case string:
		h.Shell = c
	case []any:
		for _, word := range c {
			text, _ := word.(string)
			h.Argv = append(h.Argv, text)
		}
	}
	if h.Shell != "" && len(e.Args) > 0 {
		h.Argv, h.Shell = append([]string{h.Shell}, e.Args...), ""
	}
	return h.Shell != "" || len(h.Argv) > 0
}

// cannot names the parts of an entry without a counterpart.
func (d Dialect) cannot(h Hook, e entry) string {
	switch {
	case d == Unknown:
		return "adze has no counterpart; write it into .claude/settings.json or .adze/hooks.json"
	case e.unknown != "":
		return e.unknown
	case h.Event == "":
		return fmt.Sprintf("adze has no event like %s", h.Native)
	case e.Type != "" && e.Type != "command":
		return fmt.Sprintf("it is of the type %q; adze starts programs only", shortened(e.Type, 40))
	case h.Shell == "" && (len(h.Argv) == 0 || h.Argv[0] == ""):
		return "it names no program"
	case e.If != "":
		return "its condition (if) cannot be translated"
	case e.Async:
		return "it is to run beside the session (async), and nothing would hear its answer"
	case e.Shell != "" && e.Shell != "bash":
		return "it is for the shell " + shortened(e.Shell, 40)
	case e.Cwd != "" || len(e.Env) > 0:
		return "its folder and variables (cwd, env) cannot be translated"
	}
	return ""
}

// time parses a timeout: "5s" in adze's dialect, seconds in Claude Code's.
func (h *Hook) time(value any) error {
	h.Timeout = MaxTime
	switch v := value.(type) {
	case nil:
		return nil
	case string:
		d, err := time.ParseDuration(v)
		if err != nil || d <= 0 {
			return fmt.Errorf("its timeout %q is none", shortened(v, 40))
		}
		h.Timeout = min(d, MaxTime)
		return nil
	case float64:
		if v <= 0 {
			return errors.New("its timeout is none")
		}
		if v < MaxTime.Seconds() {
			h.Timeout = time.Duration(v * float64(time.Second))
		}
		return nil
	}
	return errors.New("its timeout is none")
}
