// Package cmd is the subcommands of adze: one file for each, named after it.
//
// The one rule: a command looks, tells and sets an exit code; all that it asks of the program is in
// Program, and all that it says goes through Env.
//
// Start reading at All, where the commands are put together, then env.go (what a command says its
// answer with) and group.go (words and flags that several take). tools_run.go is the only one that
// lets something happen: one call, through the pipeline of every other run.
//
// Known limits: none that are known. The tests of what commands do run the whole program and stand
// beside them.
package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"adze/internal/cmd/doctor"
	"adze/internal/config"
	"adze/internal/config/keyring"
	"adze/internal/llm/models"
	"adze/internal/policy"
	"adze/internal/policy/policyconfig"
	"adze/internal/project/trust"
	"adze/internal/sessiondb"
	"adze/internal/sessiondb/retention"
	"adze/internal/text/usage"
	"adze/session"
	"adze/tool"
)

// Program is what the commands of this package ask of the program that they belong to; those of
// others ask for less. A function that is handed in is called once, and what it was given is closed
// when it returns.
type Program interface {
	ConfigProgram
	StoreReader
	StoreWriter
	Folder
	// Failure sorts an error that would end a run.
	Failure(error) session.Result
}

// ConfigProgram is a program that has a configuration.
type ConfigProgram interface {
	// Config is the user's configuration and what finds the models that it names.
	Config() (config.Config, *models.Finder, error)
	// ConfigFile is where it stands, or would.
	ConfigFile() string
	// Keys is what the user gave to keep.
	Keys() *keyring.Store
	// KeyTable lists the keys of the interface: action, keys, what they do; and what of the bound
	// ones cannot be.
	KeyTable(bound map[string][]string) (rows [][3]string, warnings []string)
}

// StoreReader is a program that keeps sessions, to look at them.
type StoreReader interface {
	// Here is this folder as sessions remember it.
	Here() (string, error)
	// Session is the one whose id begins so.
	Session(heads []session.Head, prefix string) (session.ID, error)
	// Page lists the sessions that a filter chooses, and how many there are without its bounds.
	Page(context.Context, sessiondb.Filter) ([]session.Head, int, error)
	// Store opens the store to look into it.
	Store(context.Context, func(*sessiondb.Store) error) error
	// Logs opens the sessions of the server that keeps them, until end; if nil, this machine does.
}

// StoreWriter is a program that keeps sessions, to change them.
type StoreWriter interface {
	// Change opens it to change what is in it.
	Change(context.Context, func(*sessiondb.Store) error) error
	// Forgets lets sessions of a store go with all that was kept of them, and Tidy those that the
	// configuration lets go.
	Forgets(*sessiondb.Store) retention.Room
	Tidy(context.Context, *sessiondb.Store) (retention.Done, error)
}

// Folder is a program that works in a folder.
type Folder interface {
	// Tools makes the tools of this folder, without a model, a session or a gate.
	Tools(context.Context, func(*tool.Set) error) error
	// Offered lists the tools that a run in this folder chooses from.
	Offered(context.Context) ([]tool.Definition, error)
	// Context tells what the next request of a session would hold; nothing is started or written.
	Context(context.Context, ContextWish, func(Context) error) error
	// Gate is the policy of a run with these flags.
	Gate(policyconfig.Flags, func(*policy.Policy) error) error
	// Project is this folder, with what the user allowed of it.
	Project(func(trust.Project) error) error
	// Call makes a call by hand through the pipeline of every other run.
	Call(Call, func(CallResult)) error
	// ServerChecks looks at the MCP servers of this folder and of other assistants, and starts none.
	ServerChecks(context.Context) []doctor.Check
}

// Call is one call by hand.
type Call struct {
	policyconfig.Flags
	MaxTime   time.Duration // if 0, any
	NoSession bool          // save nothing
	Prompt    string        // what the user asked, for who resumes the session
	Model     session.Provider
}

// CallResult is what came of a call.
type CallResult struct {
	Session session.ID
	Notices []string         // about earlier runs that were killed
	End     *session.ToolEnd // if nil, the store failed, or an abort came first
	Result  session.Result
}

// all is what the commands share.
type all struct {
	*Env
	Program
}

// All are the subcommands.
func All(e *Env, p Program) []*cobra.Command {
	a := &all{e, p}
	now := []*cobra.Command{
		With(a.toolsCommand(), a.pickCommand(), contexts{a}.command()), a.auditCommand(),
		With(permissions{a}.command(), a.trustCommand()), With(a.modelsCommand(), a.loginCommand(), a.logoutCommand()),
		With(a.doctorCommand(), upgradeCommand(e)),
	}
	former := Former(a.pickCommand(), contexts{a}.command(), a.trustCommand(), a.loginCommand(), a.logoutCommand(), versionCommand(e),
		upgradeCommand(e), a.keysCommand())
	return slices.Concat(now, former, topics())
}

// Damaged says that a row is not as it was written.
type Damaged struct{ Row *sessiondb.BadRow }

// Error is what the store says of the row.
func (e *Damaged) Error() string { return e.Row.Error() }

// storedSession finds the session that a command is about: by the beginning of its id, else the
// newest one of this folder.
func (a *all) storedSession(ctx context.Context, s *sessiondb.Store, words []string) (session.ID, error) {
	if len(words) == 0 {
		head, err := Newest(ctx, a, s)
		return head.ID, err
	}
	heads, err := s.List(ctx)
	if err != nil {
		return "", fmt.Errorf("%w: %w", sessiondb.ErrOpen, err)
	}
	return a.Session(heads, words[0])
}

// Newest is the session that was last used in this folder; those of subagents do not count.
func Newest(ctx context.Context, p StoreReader, s *sessiondb.Store) (session.Head, error) {
	dir, err := p.Here()
	if err != nil {
		return session.Head{}, err
	}
	heads, _, err := s.Page(ctx, sessiondb.Filter{Folder: dir, Limit: 1})
	if err != nil {
		return session.Head{}, fmt.Errorf("%w: %w", sessiondb.ErrOpen, err)
	}
	if len(heads) == 0 {
		return session.Head{}, usage.Mistake("name one: adze sessions list --all shows them", "no session of %s is stored", dir)
	}
	return heads[0], nil
}

// Readable marks an error of reading the store, so that its exit code says so.
func Readable(err error) error {
	var bad *sessiondb.BadRow
	switch {
	case err == nil || errors.Is(err, session.ErrNotFound):
		return err
	case errors.As(err, &bad):
		return &Damaged{bad}
	}
	return fmt.Errorf("%w: %w", sessiondb.ErrOpen, err)
}
