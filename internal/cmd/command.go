// Package cmd holds the subcommands of adze, one per file.
//
// The one rule: a command prints and sets an exit code. It reaches the program only through Program
// and prints only through Env.
//
// Start reading at All, which lists the commands, then env.go (output) and group.go (shared words
// and flags). Only tools_run.go runs a tool: one call through the normal pipeline.
//
// Known limits: none. The tests of the commands run the whole program, in the same folder.
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

// Program is the part of the program that these commands use. A method that takes a function calls
// it once and closes its argument afterwards.
type Program interface {
	ConfigProgram
	StoreReader
	StoreWriter
	Folder
	// Failure returns the result for a run that ends with an error.
	Failure(error) session.Result
}

// ConfigProgram is a program with a configuration.
type ConfigProgram interface {
	// Config returns the user's configuration and the finder for its models.
	Config() (config.Config, *models.Finder, error)
	// ConfigFile returns the configuration's path, even if the file does not exist.
	ConfigFile() string
	// Keys returns the stored API keys.
	Keys() *keyring.Store
	// KeyTable lists the interface's key bindings (action, keys, description) and warnings about
	// invalid ones in bound.
	KeyTable(bound map[string][]string) (rows [][3]string, warnings []string)
}

// StoreReader is a program that can read stored sessions.
type StoreReader interface {
	// CurrentFolder returns the current folder as sessions store it.
	CurrentFolder() (string, error)
	// Session returns the session whose id begins with prefix.
	Session(heads []session.Head, prefix string) (session.ID, error)
	// Page lists the sessions that match a filter, and their number without its limits.
	Page(context.Context, sessiondb.Filter) ([]session.Head, int, error)
	// Store opens the store for reading.
	Store(context.Context, func(*sessiondb.Store) error) error
	// Logs opens the session server's logs; the caller calls end. It returns nil if sessions are
	// stored locally.
}

// StoreWriter is a program that can change stored sessions.
type StoreWriter interface {
	// Change opens the store for writing.
	Change(context.Context, func(*sessiondb.Store) error) error
	// Forgets returns the deletion of sessions with all their files; Tidy deletes those that the
	// configuration lets expire.
	Forgets(*sessiondb.Store) retention.DataPlaces
	Tidy(context.Context, *sessiondb.Store) (retention.Done, error)
}

// Folder is a program that works in a folder.
type Folder interface {
	// Tools builds the folder's tools, without a model, session or permission check.
	Tools(context.Context, func(*tool.Set) error) error
	// Offered lists the tools that a run in this folder selects from.
	Offered(context.Context) ([]tool.Definition, error)
	// Context computes a session's next request. It starts and writes nothing.
	Context(context.Context, ContextWish, func(Context) error) error
	// Gate builds the policy of a run with these flags.
	Gate(policyconfig.Flags, func(*policy.Policy) error) error
	// Project returns this folder's project and the consents the user gave to it.
	Project(func(trust.Project) error) error
	// Call runs one tool call through the normal pipeline.
	Call(Call, func(CallResult)) error
	// ServerChecks checks this folder's and other assistants' MCP servers without starting them.
	ServerChecks(context.Context) []doctor.Check
}

// A Call is one tool call made by the user.
type Call struct {
	policyconfig.Flags
	MaxTime   time.Duration // 0 for no limit
	NoSession bool          // store nothing
	Prompt    string        // for a user who resumes the session
	Model     session.Provider
}

// CallResult is the result of a Call.
type CallResult struct {
	Session session.ID
	Notices []string         // about earlier runs that were killed
	End     *session.ToolEnd // nil if the store failed or the call was aborted first
	Result  session.Result
}

type all struct {
	*Env
	Program
}

// All returns the subcommands.
func All(e *Env, p Program) []*cobra.Command {
	a := &all{e, p}
	now := []*cobra.Command{
		WithSubcommands(a.toolsCommand(), a.pickCommand(), contexts{a}.command()), a.auditCommand(),
		WithSubcommands(permissions{a}.command(), a.trustCommand()), WithSubcommands(a.modelsCommand(), a.loginCommand(), a.logoutCommand()),
		WithSubcommands(a.doctorCommand(), upgradeCommand(e)),
	}
	former := HideOldNames(a.pickCommand(), contexts{a}.command(), a.trustCommand(), a.loginCommand(), a.logoutCommand(), versionCommand(e),
		upgradeCommand(e), a.keysCommand())
	return slices.Concat(now, former, topics())
}

// Damaged means that a stored row differs from the one written.
type Damaged struct{ Row *sessiondb.BadRow }

// Error describes the row.
func (e *Damaged) Error() string { return e.Row.Error() }

// storedSession finds the session by the id prefix in words, else the newest one in this folder.
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

// Newest returns this folder's last used session, not counting subagents.
func Newest(ctx context.Context, p StoreReader, s *sessiondb.Store) (session.Head, error) {
	dir, err := p.CurrentFolder()
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

// Readable wraps a store error so that it gets its exit code.
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
