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

// Need is one thing that a call touches. It is shown to the person who is asked, streamed, and kept in the
// audit whole, since a decision without what was decided on proves nothing: naming a Need declares it
// loggable, as Redact does for arguments. What must not be logged does not belong in a Target; name the
// host and not the address with its token.
type Need struct {
	Permission Permission `json:"permission"`
	// Target is a path as the model gave it, a command, or a URL.
	Target string `json:"target"`
	// Dir is the directory in which a command runs; empty: the workspace.
	Dir string `json:"dir,omitempty"`
}

// Question is what a gate decides on.
type Question struct {
	Session string
	Call    CallID
	Agent   string
	Tool    Definition
	Needs   []Need
	Origin  Origin
	// Repaired and Validated let a gate be stricter with calls that were mended or never checked.
	Repaired  bool
	Validated bool
	// Preview shows a person what would happen; it only reads, and may be nil.
	Preview func(context.Context) []Block
}

// Decision is a gate's answer.
type Decision struct {
	Allow bool `json:"allow"`
	// Asked is true when a person answered, or should have and nobody was there.
	Asked bool `json:"asked,omitempty"`
	// Rule and Layer name what decided: "deny execute(rm **)" of "user".
	Rule  string `json:"rule,omitempty"`
	Layer string `json:"layer,omitempty"`
	// Reason goes to the model with a denial.
	Reason string `json:"reason,omitempty"`
	// Code is set when nothing could be judged because the call itself is wrong, a path with a NUL byte say:
	// it then fails with this code and Reason, and does not count as denied.
	Code string `json:"code,omitempty"`
	// Need is the one that was decisive in a denial.
	Need *Need `json:"need,omitempty"`
}

// Gate is the choke point that every call of every agent passes. Contract:
//   - Decide is called once before Run with all that Needs named, and once for each Context.Ask;
//   - it may wait for a person, and returns ctx.Err() when ctx ends meanwhile;
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
