// Package doctor checks the requirements of a run, in the order in which it needs them, and
// suggests fixes.
//
// The one rule: it only checks. It fixes nothing, shows no key, and sends only free requests.
//
// Start reading at Checks; keys.go checks keys, server.go model servers, machine.go the rest.
//
// Known limits: it asks a company for its list of models, not whether the key may use one.
package doctor

import (
	"cmp"
	"context"
	"os"
	"strings"
	"time"

	"adze/internal/config"
	"adze/internal/config/paths"
	"adze/internal/llm/models"
	"adze/session"
)

// States of a check: a run works despite a warning, but not after a failure.
const (
	OK   = "ok"
	Warn = "warn"
	Fail = "fail"
)

// A Check is the result of one check.
type Check struct {
	Name    string `json:"name"`
	State   string `json:"state"`
	Finding string `json:"found"`
	Mend    string `json:"mend,omitempty"`

	Cause session.Cause `json:"-"` // a run's, if the check failed
}

func fine(name, found string) Check { return Check{Name: name, State: OK, Finding: found} }

func missingCheck(name, found, mend string) Check {
	return Check{Name: name, State: Warn, Finding: found, Mend: mend}
}

// failing builds a Check from a run's error.
func (d Doctor) failing(name string, err error) Check {
	r := d.Failure(err)
	mend, _, _ := strings.Cut(r.Hint, "\n") // one sentence; the run prints the rest
	return Check{Name: name, State: Fail, Finding: r.Message, Mend: cmp.Or(mend, "try again; adze models --check asks all servers"), Cause: r.Cause}
}

// Ask selects the servers to query: the model's, none, or also every company with a key.
type Ask struct{ Nobody, Everybody bool }

// Doctor holds the environment to check.
type Doctor struct {
	Out     *os.File // may be a terminal
	Getenv  func(string) string
	Config  func() (config.Config, *models.Finder, error)
	Failure func(error) session.Result // converts an error as a run does
}

// Checks runs the checks in a run's order.
func (d Doctor) Checks(ctx context.Context, ask Ask) []Check {
	at := paths.FromEnv(d.Getenv)
	var out []Check
	cfg, find, err := d.Config()
	if err != nil {
		out = append(out, d.failing("configuration", err), missingCheck("model", "not looked at", "fix the configuration first"))
	} else {
		out = append(out, d.File(find.File))
		for _, w := range cfg.Warnings() {
			out = append(out, missingCheck("configuration", w, "correct the name, or remove it"))
		}
		out = append(out, d.checkKeys(find)...)
		out = append(out, d.checkModel(ctx, find, ask.Nobody)...)
		if ask.Everybody {
			out = append(out, checkOnline(ctx, find)...)
		}
	}
	if err == nil {
		out = append(out, d.checkTools(cfg, at)...)
		out = append(out, d.checkUndo(cfg, at))
	}
	out = append(out, d.checkStore(ctx, at), checkDisk(at.State), checkProgram("git", "the git tools and the history of files need it"),
		d.checkShell())
	out = append(append(out, checkClock(time.Now())), d.Terminal()...)
	return append(out, d.checkTmux(ctx)...)
}
