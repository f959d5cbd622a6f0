package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"adze/internal/config/keyring"
	"adze/internal/llm/login"
	"adze/internal/text/usage"
	"adze/session"
)

func (a *all) loginCommand() *cobra.Command {
	c := &cobra.Command{Use: "login PROVIDER [--no-check] [--file]", Short: "Store the API key of a provider, in the key ring of your system or in a private file", Args: RangeArgs(0, 1),
		Long: `Asks for the key of a provider without showing it, or takes it from a pipe, has the provider check it, which costs nothing,
and keeps it: in the key ring of the system (Secret Service, Keychain, Credential Manager), else in a file that only you can
read. A key is sent to the host that it was kept for and to no other. A variable such as those that adze models names counts
before it.`,
		Example: "  adze models login PROVIDER\n  pass show NAME | adze models login PROVIDER\n  adze models login PROVIDER --file",
		RunE: func(c *cobra.Command, words []string) error {
			return a.login(c.Context(), strings.Join(words, ""), login.Options{Unchecked: Flagged(c, "no-check"), InFile: Flagged(c, "file")})
		}}
	c.Flags().Bool("no-check", false, "do not check the key with the provider")
	c.Flags().Bool("file", false, "use the file even where there is a key ring")
	c.SetFlagErrorFunc(FlagError)
	return c
}

func (a *all) logoutCommand() *cobra.Command {
	c := &cobra.Command{Use: "logout PROVIDER", Short: "Delete the API key of a provider that adze models login stored", Args: RangeArgs(0, 1), Example: "  adze models logout PROVIDER",
		RunE: func(c *cobra.Command, words []string) error { return a.logout(strings.Join(words, "")) }}
	c.SetFlagErrorFunc(FlagError)
	return c
}

func (a *all) desk() (login.Service, error) {
	_, find, err := a.Config()
	return login.Service{Find: find, Keep: a.Keys(), Hide: a.Hide}, err
}

func (a *all) login(ctx context.Context, provider string, o login.Options) error {
	desk, err := a.desk()
	if err != nil {
		return err
	}
	if provider == "" {
		return a.named(desk, "models login")
	}
	e, err := desk.Endpoint(provider)
	if err != nil {
		return err
	}
	key, err := a.readKey("key for " + e.Name + " at " + e.Host())
	if errors.Is(err, context.Canceled) {
		a.Conclude(session.CauseInterrupted, "", "")
		return nil
	}
	if err != nil {
		return err
	}
	taken, err := desk.Take(ctx, provider, key, o)
	if err != nil {
		return err
	}
	for _, n := range taken.Notices {
		fmt.Fprintf(a.Err, "! %s\n", n)
	}
	a.Show("the key for %s is in %s\n", e.Name, taken.Location)
	if e.Default == "" {
		a.Show("adze --model %s/NAME uses it; adze models %[1]s --check lists names\n", e.Name)
	}
	return nil
}

func (a *all) logout(provider string) error {
	desk, err := a.desk()
	if err != nil {
		return err
	}
	if provider == "" {
		return a.named(desk, "models logout")
	}
	e, known := desk.Endpoint(provider) // the key of a removed provider can still be deleted
	if known == nil {
		provider = e.Name
	}
	switch err := desk.Keep.Forget(provider); {
	case errors.Is(err, keyring.ErrNone) && known == nil && e.KeySource() != "" && !e.InKeyring:
		return usage.Mistake("take "+e.KeySource()+" out of your environment", "no key for %s is kept: it comes from %s", provider, e.KeySource())
	case errors.Is(err, keyring.ErrNone):
		return a.none(desk, provider)
	case err != nil:
		return err
	}
	a.Show("the key for %s is forgotten; the provider still takes it until you revoke it there\n", provider)
	if known == nil && e.KeySource() != "" && !e.InKeyring {
		fmt.Fprintf(a.Err, "! %s is set, and is used\n", e.KeySource())
	}
	return nil
}

func (a *all) none(desk login.Service, provider string) error {
	has, err := desk.Keep.List()
	if err != nil {
		return err
	}
	hint := "no key is kept at all"
	if len(has) > 0 {
		hint = "keys are kept for " + strings.Join(has, ", ")
	}
	return usage.Mistake(hint, "no key for %s is kept", provider)
}

// named returns an error that asks for a provider's name.
func (a *all) named(desk login.Service, what string) error {
	names := login.Providers(desk.Find)
	if has, _ := desk.Keep.List(); what == "logout" {
		names = has
	}
	if len(names) == 0 {
		return usage.Mistake("adze models login PROVIDER keeps one", "no key is kept")
	}
	return usage.Mistake("one of "+strings.Join(names, ", "), "write it as adze %s PROVIDER", what)
}

// readKey reads a line from a terminal without echo, or everything from a pipe.
func (a *all) readKey(label string) (string, error) {
	if !term.IsTerminal(a.In.Fd()) {
		raw, err := io.ReadAll(io.LimitReader(a.In, 1<<20))
		if err != nil {
			return "", fmt.Errorf("read the key: %w", err)
		}
		return string(raw), nil
	}
	before, err := term.GetState(a.In.Fd())
	if err != nil {
		return "", err
	}
	stopped := make(chan os.Signal, 1)
	signal.Notify(stopped, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(stopped)
	type line struct {
		raw []byte
		err error
	}
	read := make(chan line, 1)
	fmt.Fprintf(a.Err, "%s (it is not shown): ", label)
	go func() {
		raw, err := term.ReadPassword(a.In.Fd())
		read <- line{raw, err}
	}()
	select {
	case <-stopped:
		_ = term.Restore(a.In.Fd(), before) // the read would otherwise leave echo off, and it does not return
		fmt.Fprintln(a.Err)
		return "", context.Canceled
	case l := <-read:
		fmt.Fprintln(a.Err)
		if l.err != nil && !errors.Is(l.err, io.EOF) {
			return "", fmt.Errorf("read the key: %w", l.err)
		}
		return string(l.raw), nil
	}
}
