package tool

import (
	"context"
	"errors"
	"slices"
)

// Permission is a kind of access.
type Permission string

const (
	Read    Permission = "read"
	Write   Permission = "write"
	Execute Permission = "execute"
	Network Permission = "network"
)

// Permissions lists a tool's required and optional access.
type Permissions struct {
	Required []Permission `json:"required,omitempty"`
	Optional []Permission `json:"optional,omitempty"`
}

// Requires returns permissions that every call uses.
func Requires(p ...Permission) Permissions { return Permissions{Required: p} }

// MayUse adds permissions that only some calls use.
func (p Permissions) MayUse(more ...Permission) Permissions {
	p.Optional = append(slices.Clone(p.Optional), more...)
	return p
}

// SideEffects reports whether a call may change something outside the conversation.
func (p Permissions) SideEffects() bool {
	changes := func(q Permission) bool { return q == Write || q == Execute }
	return slices.ContainsFunc(p.Required, changes) || slices.ContainsFunc(p.Optional, changes)
}

// A Need is one thing that a call touches. It is shown to the user, streamed, and kept unabridged
// in the audit, since a decision proves nothing without its subject: naming a Need declares it
// loggable, as Redact does for arguments. A Target must not hold secrets; name the host and not the
// URL with its token.
type Need struct {
	Permission Permission `json:"permission"`
	// Target is a path as the model gave it, a command, or a URL.
	Target string `json:"target"`
	// Dir is a command's directory; "" is the workspace.
	Dir string `json:"dir,omitempty"`
	// Reach is empty if Target is exact.
	Reach Reach `json:"reach,omitempty"`
	// Sandboxed means the tool starts the command in the run's sandbox, if there is one. Outside is the
	// reason to run it outside after it failed inside.
	Sandboxed     bool   `json:"caged,omitempty"`
	OutsideReason string `json:"outside,omitempty"`
	// Separable means the tool can keep a command's changes separate until somebody decides about them.
	Separable bool `json:"-"`
	// OutlivesCall means a command outlives its call.
	OutlivesCall bool `json:"lasts,omitempty"`
	// Sends is data for Target beyond its name, such as the words of a search. It is judged, but
	// neither shown nor stored.
	Sends string `json:"-"`
}

// Reach is the extent of a need without a file, program or address.
type Reach string

// Reach values.
const (
	// Anything is the widest need: all that this kind of access can touch. The pipeline adds it for
	// each required permission that no need covers, so that a tool that names nothing is asked for
	// as one that may do all.
	Anything Reach = "anything"
	// State reads state of adze or the system, such as todo lists or processes, and no file. Target
	// names it. Only for Read.
	State Reach = "state"
	// OwnStart acts on something that an earlier call in this session started, such as ending its
	// job. It was allowed then and is not asked for again. Target names it. Only for Execute.
	OwnStart Reach = "own_start"
	// ServerTool calls a tool on an MCP server, with any arguments. Target is mcp:SERVER TOOL. Only
	// for Execute.
	ServerTool Reach = "server_tool"
	// OwnChange applies a command's separate changes. The user is asked each time. Target names it.
	// Only for Write.
	OwnChange Reach = "own_change"
	// OwnStage applies a staged turn's changes, at the user's request alone. Target names it. Only
	// for Write.
	OwnStage Reach = "own_stage"
)

// StateNeed returns the need for a tool that reads state and no file.
func StateNeed(what string) []Need { return []Need{{Permission: Read, Target: what, Reach: State}} }

// Touches describes the need for people and models.
func (n Need) Touches() string {
	if n.Reach != Anything {
		return n.Target
	}
	return map[Permission]string{
		Read: "any file", Write: "any file", Execute: "any program", Network: "any address",
	}[n.Permission] + " (the tool does not say which)"
}

// cover completes a call's needs: one without a target becomes Anything, as does a required
// permission without a need.
func (p Permissions) cover(needs []Need) []Need {
	whole := slices.Clone(needs)
	for i, n := range whole {
		if n.Target == "" && n.Reach == "" {
			whole[i].Reach = Anything
		}
	}
	for _, required := range p.Required {
		if !slices.ContainsFunc(whole, func(n Need) bool { return n.Permission == required }) {
			whole = append(whole, Need{Permission: required, Reach: Anything})
		}
	}
	return whole
}

// A Question is the input for a gate's decision.
type Question struct {
	Session string
	Call    CallID
	Agent   string
	// Mode is the widest permission mode for the calling agent; "" is the current mode.
	Mode   string
	Tool   Definition
	Needs  []Need
	Origin Origin
	// Repaired and Validated let a gate be stricter with repaired or unchecked calls.
	Repaired  bool
	Validated bool
	// Repair is the fix to show to a user; nil if the arguments are the model's own.
	Repair *Repair
	// Reviewed is true if a user already allowed this call, and its tool asks again while running.
	Reviewed bool
	// Preview shows the user the effect; it only reads, and may be nil.
	Preview func(context.Context) []Block
	// Check returns why the call cannot work, so that nobody is asked about it. It only accesses
	// needs that may allows without a question; may be nil.
	Check func(ctx context.Context, may func(Need) bool) error
	// Editing is the text for a user to rewrite; may be nil.
	Editing *Editing
	// WithoutHunks returns the call without some hunks in Preview, counted from 1, and the reason for
	// their refusal; if nil, the call is allowed whole or not at all.
	WithoutHunks func(ctx context.Context, refused []int, why string) (*Change, error)
	// Wanted is the reason why a hook wants the user to be asked, whatever rules and mode allow, or
	// "".
	Wanted string
	// Amended is true if the user changed and allowed the call.
	Amended bool
	// Waits stops the call's clock while a user is asked, until over is called; may be nil.
	Waits func() (over func())
}

// Decision is a gate's answer.
type Decision struct {
	Allow bool `json:"allow"`
	// Asked is true if a user answered, or should have but nobody was there.
	Asked bool `json:"asked,omitempty"`
	// Rule and Layer name the origin of the decision: "deny execute(rm **)" in "user".
	Rule  string `json:"rule,omitempty"`
	Layer string `json:"layer,omitempty"`
	// Reason goes to the model with a denial.
	Reason string `json:"reason,omitempty"`
	// Reply is the user's reply with a denial; the model sees it as the user's words.
	Reply string `json:"said,omitempty"`
	// Client is the answering client, unless it is the session's own window: a page, a device by its id
	// and name, or another process.
	Client string `json:"by,omitempty"`
	// Change is the user's modified call, which is judged again. Only users change calls.
	Change *Change `json:"-"`
	// Code is set without judging if the call itself is wrong, such as a path with a NUL byte, or
	// if Check failed. The call then fails with this code and the text from Check, else Reason, and
	// does not count as denied.
	Code string `json:"code,omitempty"`
	// Need is the decisive one in a denial.
	Need *Need `json:"need,omitempty"`
	// Offers lists --allow rules that would have allowed the call if the user could not be asked.
	Offers []string `json:"offers,omitempty"`
	// ByRule is true if a rule allowed a command that no person has seen: it then runs without
	// access to the workspace's own programs.
	ByRule bool `json:"-"`
	// Reading defines how an allowed command runs, so that only the inspected form runs; if nil, it
	// runs as written.
	Reading *CommandReading `json:"-"`
}

// CommandReading is the gate's reading of a command: one program without a shell, or a script with
// a single interpretation.
type CommandReading struct {
	// Sandboxed means the command was allowed because of the sandbox and runs there or not at all.
	Sandboxed bool
	// Planned means its changes are dropped and it has no network.
	Planned bool
	// Leaves is the access that a sandbox would refuse it: if it would run in one, the user is
	// asked to run it outside first.
	Leaves string
	Env    []string // for Argv, NAME=value
	Argv   []string // one program; if nil, Script is for bash
	Script string
	// Git means that git is among the read-only programs, and Looks that all are read-only: the
	// repository then cannot influence what runs.
	Git, Looks bool
}

// A Gate decides about every call by every agent. Contract:
//   - Decide is called once before Run with all Needs, and once for each Context.Ask;
//   - it calls Check before it asks a user, and asks none if that returns why the call cannot work;
//   - it may wait for a user, and returns ctx.Err() when ctx ends meanwhile;
//   - an error other than ctx's is a denial: the gate fails closed;
//   - it is safe for concurrent use.
type Gate interface {
	Decide(ctx context.Context, q Question) (Decision, error)
}

// GateFunc makes a function a Gate.
type GateFunc func(context.Context, Question) (Decision, error)

// Decide calls f.
func (f GateFunc) Decide(ctx context.Context, q Question) (Decision, error) { return f(ctx, q) }

// ErrDenied is wrapped by errors of Context.Ask when the gate refuses.
var ErrDenied = errors.New("denied")
