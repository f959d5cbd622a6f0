package tool

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"slices"
	"time"
)

// Record is one call's audit record. It holds only the arguments exposed by Redact, but Needs and
// Decisions in full, since they are the subject of the decision. A call with side effects has two:
// the intent, stored before the effect, and one with the outcome.
type Record struct {
	Session string `json:"session,omitempty"`
	Message string `json:"message,omitempty"`
	Agent   string `json:"agent,omitempty"`
	Call    CallID `json:"call"`
	Tool    string `json:"tool"`
	Digest  string `json:"digest,omitempty"` // the definition's digest
	Origin  Origin `json:"origin"`
	// Alias is the model's name for the tool, and Dialect the translation of its arguments; neither
	// is a fault.
	Alias     string `json:"alias,omitempty"`
	Dialect   string `json:"dialect,omitempty"`
	Repair    string `json:"repair,omitempty"` // kind only; the outcome has before and after
	Validated bool   `json:"validated"`
	// NoSchemaMode is set if nothing validated the arguments, and restricts the call.
	NoSchemaMode NoSchemaMode `json:"no_schema_mode,omitempty"`
	// Args holds the exposed arguments; ArgsHash is the hexadecimal SHA-256 of all arguments that
	// ran.
	Args      json.RawMessage `json:"args"`
	ArgsHash  string          `json:"args_sha256,omitempty"`
	Changed   bool            `json:"changed,omitempty"` // by a user or a hook, before it ran: Args, ArgsHash and Needs describe the changed call
	Needs     []Need          `json:"needs,omitempty"`
	Decisions []Decision      `json:"decisions,omitempty"`
	// Status is empty in the intent record.
	Status     Status        `json:"status,omitempty"`
	Code       string        `json:"code,omitempty"`
	Faults     []Fault       `json:"faults,omitempty"`
	Start      time.Time     `json:"start"`
	Duration   time.Duration `json:"duration_ns,omitempty"` // without Waited
	Waited     time.Duration `json:"waited_ns,omitempty"`   // waiting for users
	OutputHash string        `json:"output_sha256,omitempty"`
	Sandbox    string        `json:"sandbox,omitempty"` // sandbox level and implementation for its commands; "" if none ran or without a sandbox
	Refused    []Refusal     `json:"refused,omitempty"` // the sandbox's refusals, whether commands failed or not
	Traffic    []HostTraffic `json:"carried,omitempty"` // the sandbox's network traffic
	// Panic is a panic's value and stack. It may quote arguments, so Public removes it and it stays
	// in the local log.
	Panic string `json:"panic,omitempty"`
}

// Refusal is an access that a sandbox refused a command, or a change that was not applied.
type Refusal struct {
	Kind   string `json:"kind"` // host, path, socket or call
	Name   string `json:"name"`
	Reason string `json:"reason,omitempty"`
	// Hint means the refusal was guessed from the command's output: it may be wrong, and is not
	// counted as a denial.
	Hint bool `json:"hint,omitempty"`
}

// HostTraffic is the traffic with one host through a sandbox's proxy: bytes inside the connections,
// which for https are TLS.
type HostTraffic struct {
	Host        string `json:"host"` // with port
	Connections int    `json:"connections"`
	Sent        int64  `json:"sent_bytes"`
	Received    int64  `json:"received_bytes"`
}

// Public returns the record without the panic, for use outside of the local log.
func (r Record) Public() Record {
	if r.Panic != "" {
		r.Panic = "the tool failed inside; the stack is in the session's log"
	}
	return r
}

// maxPanic limits a recorded panic, in runes: the value and the innermost frames.
const maxPanic = 8_000

// panicked describes a panic for the log. The deferred function that recovered calls it.
func panicked(value any) string {
	return cut(fmt.Sprintf("%s\n%s", cut(fmt.Sprint(value), maxPanic/4), debug.Stack()), maxPanic)
}

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// Skip returns the outcome for a call that is not run, such as one over a budget, with a full
// record. The call counts as run: a later Exec is refused.
func (r *Runner) Skip(h Hydration, code, why string) Outcome {
	if h.ran != nil {
		h.ran.Store(true)
	}
	return r.begin(h).finish(outcomeParts{output: why}, Aborted, code)
}

// intendMore stores the record again when a running call is allowed another change: the new
// decision must be durable before the effect, too.
func (x *execution) intendMore(ctx context.Context, n Need) error {
	if !n.changes() {
		return nil
	}
	return x.intend(ctx)
}

// mayChange considers both the tool's declaration and this call's needs: a wrongly declared tool
// stores its intent, too.
func (x *execution) mayChange() bool {
	if x.h.prepared.def.Permissions.SideEffects() {
		return true
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return slices.ContainsFunc(x.record.Needs, Need.changes)
}

func (n Need) changes() bool { return n.Permission == Write || n.Permission == Execute }

// Aborted returns the outcome for a call whose process died. Its duration is unknown.
func (r Record) Aborted(output string) Outcome {
	r.Status, r.Code, r.OutputHash = Aborted, CodeAborted, hashOf(output)
	return Outcome{Call: r.Call, Tool: r.Tool, Status: r.Status, Code: r.Code, Output: output, Record: r}
}
