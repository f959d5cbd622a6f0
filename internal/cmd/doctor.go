package cmd

import (
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"adze/internal/cmd/doctor"
	"adze/internal/text/usage"
)

func (a *all) doctorCommand() *cobra.Command {
	c := &cobra.Command{Use: "doctor [--offline | --online] [--json | --apparmor | --self-test]", Annotations: CallableByTools(), Short: "Check what a run needs, and say how to fix what is missing", Args: RangeArgs(0, 0),
		Long: `Checks the configuration, the model and its server, the keys, the store, the disk, the programs that tools use, the
clock and the terminal. The model's server is asked what it has, which costs nothing; --online asks every server whose key
is set. Exits with 0, or with the code that a run would end with.`,
		Example: "  adze doctor\n  adze doctor --offline\n  adze doctor --apparmor | sudo tee /etc/apparmor.d/adze | sudo apparmor_parser -r\n  adze doctor --json | jq '.checks[] | select(.state != \"ok\")'",
		RunE: func(c *cobra.Command, _ []string) error {
			if Flagged(c, "apparmor") {
				return a.writeProfile()
			}
			if Flagged(c, "self-test") {
				return a.selfTest(c.Context())
			}
			offline, online := Flagged(c, "offline"), Flagged(c, "online")
			if offline && online {
				return usage.Mistake("use one of them", "--offline and --online exclude each other")
			}
			a.examine(c.Context(), doctor.Ask{Nobody: offline, Everybody: online}, Flagged(c, "json"))
			return nil
		}}
	c.Flags().Bool("offline", false, "ask no server")
	c.Flags().Bool("online", false, "ask also every other server for which a key is set, at no cost")
	c.Flags().Bool("json", false, "print one JSON object")
	c.Flags().Bool("apparmor", false, "print a profile of AppArmor that lets this adze make namespaces, and nothing else")
	c.Flags().Bool("self-test", false, "try what adze builds upon in a temporary folder: files, processes, the sandbox, undo; one line each")
	c.SetFlagErrorFunc(FlagError)
	return c
}

func (a *all) selfTest(ctx context.Context) error {
	checks := doctor.Doctor{Out: a.Out, Getenv: a.Getenv}.SelfTest(ctx)
	a.show(checks)
	if slices.ContainsFunc(checks, func(c doctor.Check) bool { return c.State == doctor.Fail }) {
		return errors.New("something that adze builds upon does not work here")
	}
	return nil
}

func (a *all) writeProfile() error {
	profile, err := doctor.Profile()
	if err == nil {
		a.Show("%s", profile)
	}
	return err
}

func (a *all) examine(ctx context.Context, ask doctor.Ask, asJSON bool) {
	checks := doctor.Doctor{Out: a.Out, Getenv: a.Getenv, Config: a.Config, Failure: a.Failure}.Checks(ctx, ask)
	checks = append(checks, a.ServerChecks(ctx)...)
	for _, c := range checks {
		if c.State == doctor.Fail { // the first one would end a run
			a.Conclude(c.Cause, "", "")
			break
		}
	}
	if asJSON {
		a.ShowJSON(struct {
			ExitCode int            `json:"exit_code"`
			Checks   []doctor.Check `json:"checks"`
		}{a.Exit, checks})
		return
	}
	a.show(checks)
}

func (a *all) show(checks []doctor.Check) {
	for _, c := range checks {
		a.Show("%-4s  %-13s %s\n", c.State, c.Name, c.Finding)
		if c.Mend != "" {
			a.Show("      %-13s → %s\n", "", c.Mend)
		}
	}
}
