// Package tool defines tools and the only way to run one.
//
// A tool is declared with Define: typed arguments, typed metadata, permissions, loggable fields,
// and one Run function. A Registry checks declarations and hands out an immutable Set. A model's
// request (RawCall) becomes a Hydration (look up → parse → one recorded repair → validate →
// instantiate), and a Hydration becomes exactly one Outcome (permission → run → clip → redact →
// audit).
//
// The one rule: only Runner.Exec runs a tool, and it accepts only values from Runner.Hydrate, so
// unvalidated arguments never reach Run.
//
// Start reading at Define, then Runner.Exec in runner.go. repair.go repairs malformed arguments;
// testdata/repair shows it case by case. compat.go and set.go accept the calls of models trained on
// other assistants, if their meaning is certain.
//
// Packages below are independent of this one: tool/schema derives, checks and compiles schemas,
// tool/laxjson parses near-JSON, tool/fuzzy finds similar names. tool/rank, which imports this
// package, finds definitions for a query.
//
// The package is large because the pipeline's steps share types that must stay unexported: only
// here can a Hydration be made, and only here can its Run be called.
//
// Known limits: a Run that ignores its context cannot be stopped; Exec abandons it after
// Runner.Grace and reports that. A schema compiles at its first call, so a bad pattern surfaces
// only then. A lone surrogate escape in arguments becomes U+FFFD, as in encoding/json. Repairs use
// a schema.Shape: violations of other keywords are not repaired.
package tool

import (
	"context"
	"encoding/json"
	"fmt"
)

// Config is a tool's declaration by its author. Args and Meta are plain structs: Args is decoded
// from the model's JSON, Meta is shown in panes and logged.
type Config[Args, Meta any] struct {
	// Description is for the model. ${name} is replaced from Init.Vars when a Set is made; an
	// unknown name is an error.
	Description string
	// Parameters is the JSON Schema for the arguments, kept byte for byte. If nil, it is derived
	// from Args.
	Parameters json.RawMessage
	// Checked means Parameters passed schema.Check before and have not changed: a start with
	// hundreds of server tools skips the check.
	Checked bool
	// ProviderSchema is an optional compact schema for the model; it never validates anything.
	ProviderSchema json.RawMessage
	Permissions    Permissions
	Tags           []string
	Roles          []string
	// Aliases are names that models use instead. They are accepted and recorded, but never offered.
	Aliases []string
	// Compat accepts calls from models that know other assistants' tools.
	Compat Compat
	// Unoffered tools lack a requirement in this run and are not offered to models. A call is still
	// accepted, so that Run can explain why.
	Unoffered    bool
	Safety       Safety
	Capabilities Capabilities
	CostClass    string
	Strict       *bool
	// AllowNoSchema lets a tool register without a schema; NoSchemaMode must then restrict its
	// calls.
	AllowNoSchema bool
	NoSchemaMode  NoSchemaMode
	// Redact lists the argument and metadata fields for log and audit. Mandatory.
	Redact Redaction
	// Output limits the output for the model; zero means the runner's limit.
	Output Bound
	// Needs returns the needs of a call. It is pure: it is called before permission and before Run.
	Needs func(Args) []Need
	// Concurrent reports whether a call may run concurrently although this tool may have side
	// effects. It is pure. If nil, Permissions decide for every call.
	Concurrent func(Args) bool
	// Check returns why the call cannot work, before anybody is asked: an unread file, a missing
	// text. Its error becomes the outcome, worded as in Run; nil leaves the decision to Run, which
	// checks again. It changes nothing and reads only what c.Ask allows. c.Ask asks nobody
	// here; when it refuses, Check returns the refusal and the call continues without a check. May
	// be nil.
	Check func(ctx context.Context, c Context[Meta], in Args) error
	// Preview shows a user the call's effect. It only reads; the model never sees it.
	Preview func(context.Context, Args) (Meta, error)
	// Editable names the text argument that a user may rewrite before allowing the call, such as a
	// command.
	Editable string
	// WithoutHunks returns arguments for the same change without some hunks in Preview's diff, counted
	// from 1, which the user refused. If nil, the call is allowed whole or not at all.
	WithoutHunks func(ctx context.Context, in Args, refused []int) (Args, error)
	// Run performs the call. It may assume consent for all Needs. Its context is the abort.
	Run func(ctx context.Context, c Context[Meta], in Args) (Result[Meta], error)
	// View turns metadata into blocks for panes. If nil, a generic view is drawn.
	View func(Meta) []Block
	// Heading describes a call and its result in one row. It is pure. It gets only arguments
	// exposed by Redact, and zero metadata until there is some. If nil, the tool's name and the
	// title are shown.
	Heading func(Args, Meta) Heading
}

// Tool is a declared tool to register. The zero value is not usable; use Define.
type Tool struct {
	id      string
	aliases []string     // those known before initialization
	check   func() error // the checks that need no initialization
	load    func(context.Context, Init) (*initTool, error)
}

// ID returns the name under which the tool registers.
func (t Tool) ID() string { return t.id }

// Define declares a tool with a constant configuration. Later changes to c have no effect.
func Define[Args, Meta any](id string, c Config[Args, Meta]) Tool {
	d, h := declare(id, c), hooksOf(c)
	return Tool{
		id:      id,
		aliases: d.face.Aliases,
		check:   d.check,
		load: func(_ context.Context, in Init) (*initTool, error) {
			return prepare(d, h, in)
		},
	}
}

// DefineFunc declares a tool whose configuration is created with a Set: descriptions that depend on
// the workspace, schemas from a server. The checks by Define run when init has returned.
func DefineFunc[Args, Meta any](id string, init func(context.Context, Init) (Config[Args, Meta], error)) Tool {
	return Tool{
		id:    id,
		check: func() error { return nil },
		load: func(ctx context.Context, in Init) (*initTool, error) {
			c, err := sound(func() (Config[Args, Meta], error) { return init(ctx, in) })
			if err != nil {
				return nil, fmt.Errorf("tool %s: initialise: %w", id, err)
			}
			d := declare(id, c)
			if err := d.check(); err != nil {
				return nil, err
			}
			return prepare(d, hooksOf(c), in)
		},
	}
}

// Init holds data for a tool's initialization.
type Init struct {
	Workspace string // the writable root
	Directory string // the start directory
	Cwd       string // base for relative paths
	Vars      map[string]string
}

// initTool is an initialized tool: its definition and hooks with erased types.
type initTool struct {
	def         Definition
	redact      Redaction
	check       func() (compiledCheck, error) // compiles on first use
	instantiate func(parsedObject) (*call, error)
	view        func(json.RawMessage) []Block
	heading     func(args, meta json.RawMessage) Heading // optional
	compat      Compat
	output      Bound
	editable    string
	unoffered   bool
}
