// Package doctor looks at what a run needs, in the order in which a run needs it, and says how to
// mend what is missing.
//
// The one rule: it only looks. It mends nothing, shows no key, and asks a server for what costs
// nothing.
//
// Start reading at Checks; keys.go looks at keys, server.go at what answers behind an address,
// machine.go at all else.
//
// Known limits: of a company it asks which models there are, not whether one of them may be used.
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

// States of a check: a run does not need what warns, and cannot be without what fails.
const (
	OK   = "ok"
	Warn = "warn"
	Fail = "fail"
)

// Check is one thing that was looked at.
type Check struct {
	Name  string `json:"name"`
	State string `json:"state"`
	Found string `json:"found"`
	Mend  string `json:"mend,omitempty"`

	Cause session.Cause `json:"-"` // of a run, where it fails
}

func fine(name, found string) Check { return Check{Name: name, State: OK, Found: found} }

func lacks(name, found, mend string) Check {
	return Check{Name: name, State: Warn, Found: found, Mend: mend}
}

// failing takes cause, words and the next move from the error that a run would end with.
func (d Doctor) failing(name string, err error) Check {
	r := d.Failure(err)
	mend, _, _ := strings.Cut(r.Hint, "\n") // one sentence; the run tells the others
	return Check{Name: name, State: Fail, Found: r.Message, Mend: cmp.Or(mend, "try again; adze models --check asks all servers"), Cause: r.Cause}
}

// Ask says whom to ask: the server of the model, nobody, or also every company whose key is set.
type Ask struct{ Nobody, Everybody bool }

// Doctor is where it looks.
type Doctor struct {
	Out     *os.File // the terminal, where it is one
	Getenv  func(string) string
	Config  func() (config.Config, *models.Finder, error)
	Failure func(error) session.Result // sorts an error that would end a run
}

// Checks looks at things in the order in which a run needs them.
func (d Doctor) Checks(ctx context.Context, ask Ask) []Check {
	at := paths.Of(d.Getenv)
	var out []Check
	cfg, find, err := d.Config()
	if err != nil {
		out = append(out, d.failing("configuration", err), lacks("model", "not looked at", "fix the configuration first"))
	} else {
		out = append(out, d.File(find.File))
		for _, w := range cfg.Warnings() {
			out = append(out, lacks("configuration", w, "correct the name, or remove it"))
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
	out = append(out, d.checkStore(ctx, at), checkDisk(at.State), checkJobs(at), checkProgram("git", "the git tools and the history of files need it"),
		d.checkShell())
	out = append(append(out, checkClock(time.Now())), d.Terminal()...)
	return append(out, d.checkTmux(ctx)...)
}
