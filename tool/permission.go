package tool

import (
	"context"
	"errors"
	"slices"
)

// Permission is a kind of access.
type Permission string

// The four kinds of access.
const (
	Read    Permission = "read"
	Write   Permission = "write"
	Execute Permission = "execute"
	Network Permission = "network"
)

// Permissions says what a tool always uses and what it may use.
type Permissions struct {
	Required []Permission `json:"required,omitempty"`
	Optional []Permission `json:"optional,omitempty"`
}

// Requires is the usual case: permissions that every call uses.
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

// Need is one thing that a call touches. It is shown to the user who is asked, streamed, and kept
// in the audit whole, since a decision without what was decided on proves nothing: naming a Need
// declares it loggable, as Redact does for arguments. What must not be logged does not belong in a
// Target; name the host and not the address with its token.
type Need struct {
	Permission Permission `json:"permission"`
	// Target is a path as the model gave it, a command, or a URL.
	Target string `json:"target"`
	// Dir is the directory in which a command runs; if empty, the workspace.
	Dir string `json:"dir,omitempty"`
	// Reach is empty where Target says exactly what is touched.
	Reach Reach `json:"reach,omitempty"`
	// Caged says of a command that the tool starts it in the sandbox, where the run has one;
	// Outside says why it is to run outside all the same, now that it could not do inside what it
	// wanted.
	Caged   bool   `json:"caged,omitempty"`
	Outside string `json:"outside,omitempty"`
	// Aside says of a command that the tool can run it so that its changes are kept apart until
	// somebody decides about them.
	Aside bool `json:"-"`
	// Lasts says of a command that it goes on beyond its call.
	Lasts bool `json:"lasts,omitempty"`
	// Sends is what goes to Target besides its name, such as the words of a search. It is judged,
	// and neither shown nor kept.
	Sends string `json:"-"`
}

// Reach says how far a need goes that names no file, program or address.
type Reach string

// Reaches.
const (
	// Anything is the widest need: whatever this kind of access can touch. The pipeline adds it for
	// each required permission that no need of a call covers, so that a tool that names nothing is
	// asked for as one that may do all.
	Anything Reach = "anything"
	// State is a read of what adze or the system tells about itself, its todo list or its processes
	// say, and of no file. Target names it. It holds for Read alone.
	State Reach = "state"
	// OwnStart is an act on what a call of this session started, such as the end of its job: that
	// was allowed then, and is asked for no more. Target names it. It holds for Execute alone.
	OwnStart Reach = "own_start"
	// ServerTool is a call of a tool of an MCP server, whatever its arguments. Target is mcp:SERVER
	// TOOL. It holds for Execute alone.
	ServerTool Reach = "server_tool"
	// OwnChange is to apply what a command of the call changed apart. The user is asked about it
	// each time, and Target says what it is. It holds for Write alone.
	OwnChange Reach = "own_change"
	// OwnStage is to apply what a staged turn has changed. The user alone asks for it, and Target says
	// what it is. It holds for Write alone.
	OwnStage Reach = "own_stage"
)

// Told is the one need of a tool that reads state and no file.
func Told(what string) []Need { return []Need{{Permission: Read, Target: what, Reach: State}} }

// Touches says what is touched, for people and models.
func (n Need) Touches() string {
	if n.Reach != Anything {
		return n.Target
	}
	return map[Permission]string{
		Read: "any file", Write: "any file", Execute: "any program", Network: "any address",
	}[n.Permission] + " (the tool does not say which)"
}

// cover adds what makes the needs of one call whole: a need without a target may be anything, and
// so may a required permission that no need is of.
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

// Question is what a gate decides on.
type Question struct {
	Session string
	Call    CallID
	Agent   string
	// Mode is the widest permission mode that may hold for the agent that makes the call; if empty,
	// the one in force.
	Mode   string
	Tool   Definition
	Needs  []Need
	Origin Origin
	// Repaired and Validated let a gate be stricter with calls that were mended or never checked.
	Repaired  bool
	Validated bool
	// Repair is the fix, as a user should see it; if nil, the arguments are the model's own.
	Repair *Repair
	// Reviewed is true when a user has allowed this very call before: a tool asks again while it runs.
	Reviewed bool
	// Preview shows a user what would happen; it only reads, and may be nil.
	Preview func(context.Context) []Block
	// Check says why the call cannot work, so that nobody is asked about it. It looks only at what may
	// allows without a question; if nil, nothing is known before.
	Check func(ctx context.Context, may func(Need) bool) error
	// Editing is what a user may rewrite of the call; if nil, nothing.
	Editing *Editing
	// Without is the call without some of the hunks that Preview shows, counted from 1, and why they
	// were refused; if nil, the call is allowed whole or not at all.
	Without func(ctx context.Context, refused []int, why string) (*Change, error)
	// Wanted says why a hook wants a user to look at the call, whatever rules and mode allow; if
	// empty, none does.
	Wanted string
	// Amended is true when a user changed the call and allowed it so.
	Amended bool
	// Waits is called when a user is waited for, and what it returns when that is over: the time
	// between is not the call's. It may be nil.
	Waits func() (over func())
}

// Decision is a gate's answer.
type Decision struct {
	Allow bool `json:"allow"`
	// Asked is true when a user answered, or should have and nobody was there.
	Asked bool `json:"asked,omitempty"`
	// Rule and Layer name what decided: "deny execute(rm **)" of "user".
	Rule  string `json:"rule,omitempty"`
	Layer string `json:"layer,omitempty"`
	// Reason goes to the model with a denial.
	Reason string `json:"reason,omitempty"`
	// Said is what the user answered with a no, in their own words; the model is told it as
	// theirs.
	Said string `json:"said,omitempty"`
	// By says from where a user answered, if not in the session's own window: a page, a device by
	// its id and the name that it gave itself, or another process.
	By string `json:"by,omitempty"`
	// Change is set when a user allowed the call otherwise than it was made: it is then judged once
	// more, as what it has become. Only a user changes a call.
	Change *Change `json:"-"`
	// Code is set when nothing was judged because the call itself is wrong, a path with a NUL byte
	// say, or because Check told that it cannot work: it then fails with this code and what Check
	// said, else Reason, and does not count as denied.
	Code string `json:"code,omitempty"`
	// Need is the one that was decisive in a denial.
	Need *Need `json:"need,omitempty"`
	// Offers are rules that would have allowed the call, as --allow takes them, where the user could
	// not be asked.
	Offers []string `json:"offers,omitempty"`
	// ByRule is true when a rule allowed a command that no person has seen: it then runs with the
	// workspace's own programs out of its way.
	ByRule bool `json:"-"`
	// Judged is how an allowed command runs, so that nothing runs but what was read; if nil, as it is
	// written.
	Judged *Judged `json:"-"`
}

// Judged is a command as its gate has read it: one program without a shell, or a script that can be
// read in one way.
type Judged struct {
	// Caged says that it was allowed because the sandbox holds it: it runs there or not at all.
	Caged bool
	// Planned says that its changes are dropped, and that it reaches no network.
	Planned bool
	// Leaves says what a sandbox would keep it from: where it would run in one, it is asked for
	// outside before it runs.
	Leaves string
	Env    []string // set for Argv, NAME=value
	Argv   []string // one program; if nil, Script is for bash
	Script string
	// Git says that a git is among the programs that only look, and Looks that there are no others:
	// the repository then has no say in what runs.
	Git, Looks bool
}

// Gate is the choke point that every call of every agent passes. Contract:
//   - Decide is called once before Run with all that Needs named, and once for each Context.Ask;
//   - it calls Check before it asks a user, and asks none where that says why the call cannot work;
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

// ErrDenied is wrapped by the error of Context.Ask when the gate said no.
var ErrDenied = errors.New("denied")
