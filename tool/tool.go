// Package tool says what a tool is and holds the only way to run one.
//
// A tool is declared with Define: typed arguments, typed metadata, permissions, what may be logged,
// and one Run function. A Registry checks declarations and hands out an immutable Set. A model's
// request (RawCall) becomes a Hydration (look up → parse → one recorded repair → validate →
// instantiate), and a Hydration becomes exactly one Outcome (permission → run → clip → redact →
// audit).
//
// The one rule: nothing but Runner.Exec runs a tool, and Runner.Exec accepts only what
// Runner.Hydrate made, so unvalidated arguments never reach Run.
//
// Start reading at Define, then Runner.Exec in runner.go. How malformed arguments are mended is
// told in repair.go; testdata/repair shows it case by case. What models of other assistants say is
// told in compat.go and set.go: it is accepted where its meaning is certain, and no fault.
//
// Below it are rooms that know nothing of it: tool/schema derives, checks and compiles schemas,
// tool/laxjson reads what is almost JSON, tool/fuzzy finds names that look alike. Which of many
// definitions fit a query is the matter of tool/rank, which knows this package and is not known
// here.
//
// It has more files than most packages, because the steps of the pipeline share types that must
// stay unexported: only here can a Hydration be made, and only here can its Run be reached.
//
// Known limits: a Run that ignores its context cannot be stopped; Exec gives up on it after
// Runner.Grace and says so in the outcome. A schema compiles at its first call, so a bad pattern
// shows only then. A lone surrogate escape in arguments becomes U+FFFD, as encoding/json decodes
// it. A repair goes by what a schema.Shape says: what other keywords refuse is not mended.
package tool

import (
	"context"
	"encoding/json"
	"fmt"
)

// Config is what the author of a tool fills in. Args and Meta are plain structs: Args is decoded
// from the model's JSON, Meta is shown live in panes and kept in the log.
type Config[Args, Meta any] struct {
	// Description is for the model. ${name} is replaced from Init.Vars when a Set is made; an
	// unknown name is an error.
	Description string
	// Parameters is the JSON Schema of the arguments, kept byte for byte. If nil, derived from Args.
	Parameters json.RawMessage
	// Checked says that Parameters came through schema.Check before and were kept since: a start
	// with hundreds of tools of servers does not do it again.
	Checked bool
	// ProviderSchema is an optional compact view offered to the model; it never validates anything.
	ProviderSchema json.RawMessage
	Permissions    Permissions
	Tags           []string
	Roles          []string
	// Aliases are names that models use instead; accepted and recorded. A catalogue never offers
	// them.
	Aliases []string
	// Compat is how models that know other assistants' tools call this one.
	Compat Compat
	// Unoffered tools are in no list that a model is shown: what they need is not there in this
	// run. A call of one is accepted all the same, so that Run says so in its own words.
	Unoffered    bool
	Safety       Safety
	Capabilities Capabilities
	CostClass    string
	Strict       *bool
	// AllowNoSchema lets a tool without any schema register; NoSchemaMode must then say what such a
	// call may do.
	AllowNoSchema bool
	NoSchemaMode  NoSchemaMode
	// Redact names the fields of arguments and metadata that may leave for log and audit.
	// Mandatory.
	Redact Redaction
	// Output bounds what the model gets of a call, where the runner's bound does not fit. If zero, the
	// runner's.
	Output Bound
	// Needs says what a call will touch. It is pure: it is asked before permission, and before Run.
	Needs func(Args) []Need
	// Concurrent says of one call that it may run beside others although calls of this tool may change
	// something. It is pure. If nil, what Permissions say holds for every call.
	Concurrent func(Args) bool
	// Check says before anybody is asked why the call cannot work: a file that was not read, a text
	// that is not there. Its error is the outcome, in the words that Run would have used; nil leaves
	// all to Run, which looks again. It changes nothing, and looks only at what c.Ask agrees to: that
	// asks no person, and when it refuses, Check returns the refusal and the call is asked for without
	// a check. If nil, nothing is known before.
	Check func(ctx context.Context, c Context[Meta], in Args) error
	// Preview shows a user what the call would do. It only reads; the model never sees it.
	Preview func(context.Context, Args) (Meta, error)
	// Editable names the text among the arguments that a user may rewrite before they allow the call:
	// a command.
	Editable string
	// Without gives the arguments that do the same without some of the hunks of the diff that Preview
	// shows, counted from 1: those that a user refused. If nil, the call is allowed whole or not at
	// all.
	Without func(ctx context.Context, in Args, refused []int) (Args, error)
	// Run does the one thing. It may assume consent for what Needs named. Its context is the abort.
	Run func(ctx context.Context, c Context[Meta], in Args) (Result[Meta], error)
	// View turns metadata into blocks that any pane can draw. If nil, a generic fallback is drawn.
	View func(Meta) []Block
	// Heading says in one row what a call is and what came of it. It is pure. The arguments are those
	// that Redact exposes, and the metadata is zero until there is some. If nil, the name of the tool
	// and the title stand there.
	Heading func(Args, Meta) Heading
}

// Tool is a declared tool, ready to be registered. The zero value is not usable; Define makes one.
type Tool struct {
	id      string
	aliases []string     // as far as they are known before it is initialised
	check   func() error // what Register can know without initialising the tool
	load    func(context.Context, Init) (*initTool, error)
}

// ID is the name under which the tool registers.
func (t Tool) ID() string { return t.id }

// Define declares a tool whose configuration is known at once. What an author changes in c
// afterwards changes nothing here.
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

// DefineFunc declares a tool whose configuration is made when a Set is initialised: descriptions
// that depend on the workspace, schemas that come from a server. What Define checks at registration
// is checked when init has returned.
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

// Init is what a tool may know when it is initialised.
type Init struct {
	Workspace string // the writable root
	Directory string // the directory of start
	Cwd       string // where relative paths begin
	Vars      map[string]string
}

// initTool is an initialised tool: its public face and typed hooks with the types erased.
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
