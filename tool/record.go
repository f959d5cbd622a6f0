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

// Record is the audit record of one call. Of arguments it holds what Redact exposed; Needs and
// Decisions are whole, because they are what was decided on. It is made twice for a call with side
// effects: as the intent, stored before the effect, and with the outcome.
type Record struct {
	Session string `json:"session,omitempty"`
	Message string `json:"message,omitempty"`
	Agent   string `json:"agent,omitempty"`
	Call    CallID `json:"call"`
	Tool    string `json:"tool"`
	Digest  string `json:"digest,omitempty"` // of the definition
	Origin  Origin `json:"origin"`
	// Alias is the name that the model used for the tool, and Dialect how its arguments in another
	// assistant's words were read; neither is a fault.
	Alias     string `json:"alias,omitempty"`
	Dialect   string `json:"dialect,omitempty"`
	Repair    string `json:"repair,omitempty"` // its kind; before and after are in the outcome
	Validated bool   `json:"validated"`
	// NoSchemaMode is set where nothing could be validated, and says what such a call may do.
	NoSchemaMode NoSchemaMode `json:"no_schema_mode,omitempty"`
	// Args is what Redact exposed; ArgsHash is the SHA-256 of all of what ran, in hexadecimal.
	Args      json.RawMessage `json:"args"`
	ArgsHash  string          `json:"args_sha256,omitempty"`
	Changed   bool            `json:"changed,omitempty"` // by a user or a hook, before it ran: Args, ArgsHash and Needs are of what ran
	Needs     []Need          `json:"needs,omitempty"`
	Decisions []Decision      `json:"decisions,omitempty"`
	// Status is empty in the intent record, which is written before the effect.
	Status     Status        `json:"status,omitempty"`
	Code       string        `json:"code,omitempty"`
	Faults     []Fault       `json:"faults,omitempty"`
	Start      time.Time     `json:"start"`
	Duration   time.Duration `json:"duration_ns,omitempty"` // without Waited
	Waited     time.Duration `json:"waited_ns,omitempty"`   // for a user
	OutputHash string        `json:"output_sha256,omitempty"`
	Sandbox    string        `json:"sandbox,omitempty"` // the level that its commands ran at, and by what; if empty, outside one, or it ran none
	Refused    []Refusal     `json:"refused,omitempty"` // what that refused its commands, whether they failed or not
	Carried    []Carried     `json:"carried,omitempty"` // what the door of that sandbox carried
	// Panic is the value and stack of a panic. It may quote arguments, so it stays in the local
	// log: Public leaves it out.
	Panic string `json:"panic,omitempty"`
}

// Refusal is one thing that a command tried and that its sandbox refused, or made and that was not
// applied.
type Refusal struct {
	Kind   string `json:"kind"` // host, path, socket or call
	Name   string `json:"name"`
	Reason string `json:"reason,omitempty"`
	// Hint says that the output of the command says so and nobody saw it: it may be wrong, and
	// counts as no denial.
	Hint bool `json:"hint,omitempty"`
}

// Carried is what went to one host and came from it, through the door of a sandbox: bytes inside
// the connections, which for https are those of TLS.
type Carried struct {
	Host        string `json:"host"` // with its port
	Connections int    `json:"connections"`
	Sent        int64  `json:"sent_bytes"`
	Received    int64  `json:"received_bytes"`
}

// Public is the record as far as it may leave the local log: without the value and stack of a
// panic.
func (r Record) Public() Record {
	if r.Panic != "" {
		r.Panic = "the tool failed inside; the stack is in the session's log"
	}
	return r
}

// maxPanic bounds what a record keeps of a panic, in runes: the value and the innermost frames.
const maxPanic = 8_000

// panicked describes a panic for the log. It is called from the deferred function that recovered.
func panicked(value any) string {
	return cut(fmt.Sprintf("%s\n%s", cut(fmt.Sprint(value), maxPanic/4), debug.Stack()), maxPanic)
}

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// Skip concludes a call that is not run, such as one over a budget, with a whole record. The call
// counts as run: a later Exec of it is refused.
func (r *Runner) Skip(h Hydration, code, why string) Outcome {
	if h.ran != nil {
		h.ran.Store(true)
	}
	return r.begin(h).finish(outcomeParts{output: why}, Aborted, code)
}

// intendMore stores the record again when a running call was allowed something more that changes
// things: its new decision must be durable before the effect, too.
func (x *execution) intendMore(ctx context.Context, n Need) error {
	if !n.changes() {
		return nil
	}
	return x.intend(ctx)
}

// mayChange goes by what the tool declares and by what this call names: a tool that is declared
// wrongly leaves its intent, too.
func (x *execution) mayChange() bool {
	if x.h.prepared.def.Permissions.SideEffects() {
		return true
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return slices.ContainsFunc(x.record.Needs, Need.changes)
}

func (n Need) changes() bool { return n.Permission == Write || n.Permission == Execute }

// Aborted makes the outcome of a call whose process ended before it, from what was recorded until
// then. Nothing is known about how long it ran.
func (r Record) Aborted(output string) Outcome {
	r.Status, r.Code, r.OutputHash = Aborted, CodeAborted, hashOf(output)
	return Outcome{Call: r.Call, Tool: r.Tool, Status: r.Status, Code: r.Code, Output: output, Record: r}
}
