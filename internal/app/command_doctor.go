package app

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"adze/internal/config"
	"adze/internal/print"
	"adze/session"
)

// doctorCommand is adze doctor.
func (a *app) doctorCommand() *cobra.Command {
	c := &cobra.Command{Use: "doctor [--offline | --online] [--json]", Short: "Check what a run needs, and say how to mend what is missing", Args: takes(0, 0),
		Long: `Checks the configuration, the model and its server, the keys, the store, the disk, the programs that tools use, the
clock and the terminal. The model's server is asked what it has, which costs nothing; --online asks every server whose key
is set. Exits with 0, or with the code that a run would end with.`,
		Example: "  adze doctor\n  adze doctor --offline\n  adze doctor --json | jq '.checks[] | select(.state != \"ok\")'",
		RunE: func(c *cobra.Command, _ []string) error {
			how := examination{flagged(c, "offline"), flagged(c, "online"), flagged(c, "json")}
			if how.offline && how.online {
				return misuse("use one of them", "--offline and --online exclude each other")
			}
			a.examine(c.Context(), how)
			return nil
		}}
	c.Flags().Bool("offline", false, "ask no server")
	c.Flags().Bool("online", false, "ask also every other server for which a key is set, at no cost")
	c.Flags().Bool("json", false, "as one JSON object")
	c.SetFlagErrorFunc(flagError)
	return c
}

// States of a check: a run does not need what warns, and cannot be without what fails.
const (
	stateOK   = "ok"
	stateWarn = "warn"
	stateFail = "fail"
)

// check is one thing that was looked at.
type check struct {
	Name  string `json:"name"`
	State string `json:"state"`
	Found string `json:"found"`
	Mend  string `json:"mend,omitempty"`

	cause session.Cause // of a run, where it fails
}

func fine(name, found string) check { return check{Name: name, State: stateOK, Found: found} }

func lacks(name, found, mend string) check {
	return check{Name: name, State: stateWarn, Found: found, Mend: mend}
}

// failing takes cause, words and the next move from the error that a run would end with.
func failing(name string, err error) check {
	r := failure(err)
	mend, _, _ := strings.Cut(r.Hint, "\n") // one sentence; the run tells the others
	return check{Name: name, State: stateFail, Found: r.Message, Mend: cmp.Or(mend, "try again; adze models --check asks all servers"), cause: r.Cause}
}

// examination says whom to ask: the server of the model, nobody, or also every company whose key is set.
type examination struct{ offline, online, asJSON bool }

func (a *app) examine(ctx context.Context, how examination) {
	checks := a.checks(ctx, how)
	for _, c := range checks {
		if c.State == stateFail { // the first one is what would end a run
			a.exit = print.ExitCode(c.cause)
			break
		}
	}
	if how.asJSON {
		a.showJSON(struct {
			ExitCode int     `json:"exit_code"`
			Checks   []check `json:"checks"`
		}{a.exit, checks})
		return
	}
	for _, c := range checks {
		a.show("%-4s  %-13s %s\n", c.State, c.Name, c.Found)
		if c.Mend != "" {
			a.show("      %-13s → %s\n", "", c.Mend)
		}
	}
}

// checks looks at things in the order in which a run needs them.
func (a *app) checks(ctx context.Context, how examination) []check {
	at := userPlaces(a.getenv)
	var out []check
	file := config.File(a.getenv, at.config)
	cfg, err := a.load(file)
	if err != nil {
		out = append(out, failing("configuration", err), lacks("model", "not looked at", "mend the configuration first"))
	} else {
		out = append(append(out, a.checkFile(file)), a.checkKeys(cfg)...)
		out = append(out, a.checkModel(ctx, cfg, how.offline)...)
		if how.online {
			out = append(out, a.checkOnline(ctx, cfg)...)
		}
	}
	if err == nil {
		out = append(out, a.checkTools(cfg, at)...)
	}
	out = append(out, checkStore(ctx, at), checkDisk(at.state), checkJobs(at), checkProgram("git", "the git tools and the history of files need it"),
		checkProgram("bash", "no command can run without it"))
	out = append(append(out, checkClock(time.Now())), a.checkTerminal()...)
	return append(out, a.checkTmux(ctx)...)
}
