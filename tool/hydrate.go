package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"adze/tool/laxjson"
	"adze/tool/schema"
)

// Stage is the hydration step with the fault.
type Stage string

// Stages, in order.
const (
	StageLookup      Stage = "lookup"
	StageParse       Stage = "parse"
	StageValidate    Stage = "validate"
	StageInstantiate Stage = "instantiate"
)

// A Fault is one error in a call. Message never repeats raw arguments.
type Fault struct {
	Stage   Stage  `json:"stage"`
	Code    string `json:"code"`
	Message string `json:"message"`
	Path    string `json:"path,omitempty"` // JSON pointer
	Detail  string `json:"detail,omitempty"`
}

// Provenance records the history of a call's arguments. Original and the Before of Dialect and
// Repair are the model's text, unredacted: they are for the caller, which has the message anyway,
// never for log or audit.
type Provenance struct {
	ProviderID CallID          `json:"provider_id"`
	Original   string          `json:"original_arguments"`
	Parsed     json.RawMessage `json:"parsed,omitempty"`
	Validated  json.RawMessage `json:"validated,omitempty"`
	Validator  *ValidatorInfo  `json:"validator,omitempty"`
	Origin     Origin          `json:"origin"`
	Alias      string          `json:"alias,omitempty"` // the model's name for the tool
	// Dialect is the translation from another assistant's dialect. It is no repair, since the
	// arguments were otherwise valid.
	Dialect *Repair `json:"dialect,omitempty"`
	Repair  *Repair `json:"repair,omitempty"`
	// NoSchemaMode is set if nothing validated the arguments, and restricts the call.
	NoSchemaMode NoSchemaMode  `json:"no_schema_mode,omitempty"`
	Duration     time.Duration `json:"duration_ns"`
}

// ValidatorInfo identifies the validator that accepted or refused the arguments. It is missing
// before parsing and for tools without a schema.
type ValidatorInfo struct {
	Name       string    `json:"name"`
	Version    string    `json:"version"`
	CompiledAt time.Time `json:"compiled_at"` // the schema's compile time
}

// Hydration is the result of processing a call's arguments. Only Runner.Hydrate makes one that can
// run.
type Hydration struct {
	OK         bool       `json:"ok"`
	Call       CallID     `json:"call"`
	Tool       string     `json:"tool"`
	Errors     []Fault    `json:"errors"`
	Provenance Provenance `json:"provenance"`

	message  string
	prepared *initTool
	bound    *call
	ran      *atomic.Bool // one call, one outcome: a second Exec is refused
}

// Concurrent reports whether the call may run concurrently with others.
func (h Hydration) Concurrent() bool {
	return h.runnable() && (h.prepared.def.Concurrent() || h.bound.concurrent())
}

// Reads reports whether the call only reads files that it names, or has faults and cannot run.
func (h Hydration) Reads() (yes bool) {
	if !h.runnable() {
		return true
	}
	defer func() {
		if recover() != nil { // treat a panic in the author's function as false
			yes = false
		}
	}()
	other := func(p Permission) bool { return p != Read }
	needs := h.bound.needs()
	return len(needs) > 0 && !slices.ContainsFunc(h.prepared.def.Permissions.Required, other) &&
		!slices.ContainsFunc(needs, func(n Need) bool { return n.Permission != Read || n.Reach != "" })
}

// RecordsIntent reports whether running the call first records its intent.
func (h Hydration) RecordsIntent() bool {
	return h.runnable() && h.prepared.def.Permissions.SideEffects()
}

// Exposed returns the loggable arguments.
func (h Hydration) Exposed() json.RawMessage {
	if h.prepared == nil {
		return json.RawMessage(`{}`)
	}
	return h.prepared.redact.Apply(h.Provenance.Parsed)
}

// runnable does not trust OK alone, which anyone can set.
func (h Hydration) runnable() bool {
	return h.OK && h.bound != nil && h.prepared != nil && h.ran != nil
}

// Hydrate processes each request, in order. It never fails or panics.
func (r *Runner) Hydrate(ctx context.Context, s *Set, calls []RawCall) []Hydration {
	out := make([]Hydration, len(calls))
	seen := map[CallID]bool{}
	for i, raw := range calls {
		start := r.now()
		out[i] = r.hydrate(ctx, s, raw, seen[raw.ID])
		out[i].Provenance.Duration = r.now().Sub(start)
		seen[raw.ID] = true
	}
	return out
}

// maxArguments limits a call's arguments, in bytes. It exceeds the output limit of models; each
// byte is parsed, validated, redacted and masked several times.
const maxArguments = 8 << 20

func (r *Runner) hydrate(ctx context.Context, s *Set, raw RawCall, duplicate bool) (h Hydration) {
	h = Hydration{Call: raw.ID, Tool: raw.Name, message: raw.Message, ran: new(atomic.Bool), Errors: []Fault{}, Provenance: Provenance{
		ProviderID: raw.ID, Original: raw.Arguments, Origin: raw.Origin,
	}}
	if h.Provenance.Origin == "" {
		h.Provenance.Origin = Native
	}
	// Instantiation may run the author's UnmarshalJSON.
	defer func() {
		if p := recover(); p != nil {
			h.OK, h.bound = false, nil
			h.fail(Fault{Stage: StageInstantiate, Code: CodePanic, Message: "the tool could not take these arguments", Detail: fmt.Sprint(p)})
		}
	}()
	if duplicate {
		h.fail(Fault{Stage: StageLookup, Code: CodeDuplicateCall, Message: fmt.Sprintf("the call id %.80q was used twice in one message; this second call was not run", raw.ID)})
		return h
	}
	if !h.find(s, raw) {
		return h
	}
	if n := len(raw.Arguments); n > maxArguments {
		h.fail(Fault{Stage: StageParse, Code: CodeTooLarge, Message: fmt.Sprintf("the arguments have %d bytes, at most %d are taken; send less at once, "+
			"such as a file in several calls", n, maxArguments)})
		return h
	}
	args, faults := h.accept(raw.Arguments)
	if len(faults) > 0 {
		args, faults = h.repair(raw.Arguments, faults)
	}
	if len(faults) > 0 {
		h.fail(faults...)
		return h
	}
	h.instantiate(args)
	return h
}

func (h *Hydration) fail(faults ...Fault) { h.Errors = append(h.Errors, faults...) }

func (h *Hydration) find(s *Set, raw RawCall) bool {
	p, alias := s.lookup(raw.Name, raw.Arguments)
	if p == nil {
		h.fail(Fault{Stage: StageLookup, Code: CodeUnknownTool,
			Message: fmt.Sprintf("there is no tool %q; %s", cut(raw.Name, 80), s.instead(raw.Name))})
		return false
	}
	h.prepared, h.Tool = p, p.def.Name
	h.Provenance.NoSchemaMode = p.def.NoSchemaMode
	if alias {
		h.Provenance.Alias = cut(raw.Name, mostPrefixed)
		h.aliased()
	}
	return true
}

// aliased records the use of another assistant's name.
func (h *Hydration) aliased() {
	if h.Provenance.Origin == Native {
		h.Provenance.Origin = Alias
	}
}

// parsedObject is a JSON object as text and as a tree.
type parsedObject struct {
	raw  json.RawMessage
	tree map[string]any
}

// accept parses and validates arguments without repair.
func (h *Hydration) accept(arguments string) (parsedObject, []Fault) {
	args, faults := parse(arguments)
	if len(faults) > 0 {
		return parsedObject{}, faults
	}
	h.Provenance.Parsed = args.raw
	return args, h.validate(args.tree)
}

// parse reads a JSON object. Models write "", null or nothing for a call without arguments.
func parse(arguments string) (parsedObject, []Fault) {
	text := strings.TrimSpace(arguments)
	if text == "" || text == "null" {
		text = "{}"
	}
	if !utf8.ValidString(text) {
		// The decoder would replace invalid UTF-8, and a file would get other bytes.
		return parsedObject{}, []Fault{{Stage: StageParse, Code: CodeInvalidJSON, Message: "the arguments are not valid UTF-8"}}
	}
	var value any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		return parsedObject{}, []Fault{parseFault(text, err)}
	}
	object, ok := value.(map[string]any)
	if !ok {
		return parsedObject{}, []Fault{{Stage: StageParse, Code: CodeInvalidArguments,
			Message: fmt.Sprintf("arguments must be one JSON object, not %s", schema.TypeOf(value))}}
	}
	names, depth := measure(object)
	if names != keysWritten(text) {
		return parsedObject{}, []Fault{{Stage: StageParse, Code: CodeInvalidArguments,
			Message: "a name appears twice in one object of the arguments; give each once"}}
	}
	if depth > laxjson.MaxNesting {
		return parsedObject{}, []Fault{{Stage: StageParse, Code: CodeInvalidArguments,
			Message: fmt.Sprintf("the arguments nest %d levels deep; at most %d are taken", depth, laxjson.MaxNesting)}}
	}
	return parsedObject{json.RawMessage(text), object}, nil
}

func parseFault(text string, err error) Fault {
	f := Fault{Stage: StageParse, Code: CodeInvalidJSON, Message: "the arguments are not valid JSON", Detail: err.Error()}
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		f.Message += fmt.Sprintf(" (byte %d of %d)", syntax.Offset, len(text))
		if syntax.Offset >= int64(len(text)) {
			f.Message += "; they end too early"
		}
	}
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) {
		f.Code, f.Message = CodeInvalidArguments, "a number in the arguments is out of range"
	}
	return f
}

func (h *Hydration) validate(object map[string]any) []Fault {
	if h.prepared.def.AllowNoSchema {
		return nil
	}
	schema, err := h.prepared.check()
	h.Provenance.Validator = &schema.info
	if err != nil {
		return []Fault{{Stage: StageValidate, Code: CodePanic, Message: "the tool's schema does not compile; use another tool", Detail: err.Error()}}
	}
	return schema.check(object)
}

func (h *Hydration) instantiate(args parsedObject) {
	b, err := h.prepared.instantiate(args)
	if err != nil {
		h.fail(instantiateFault(err))
		return
	}
	if !h.prepared.def.AllowNoSchema { // arguments that nothing validated
		h.Provenance.Validated = args.raw
	}
	h.bound, h.OK = b, true
}

// instantiateFault avoids Go's wording: the model does not know our types.
func instantiateFault(err error) Fault {
	f := Fault{Stage: StageInstantiate, Code: CodeInvalidArguments, Message: "the arguments do not fit the tool's types", Detail: err.Error()}
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) {
		if kind.Field != "" {
			f.Path = "/" + strings.ReplaceAll(kind.Field, ".", "/")
		}
		what, _, _ := strings.Cut(kind.Value, " ") // "number 300" repeats the value
		f.Message = "this " + what + " does not fit here"
	}
	var named *schema.NameFault
	if errors.As(err, &named) {
		f.Path, f.Message = named.Path, fmt.Sprintf("is not a known property; did you mean %q?", named.Want)
	}
	return f
}

// advice returns the model's text for a failed hydration.
func (h Hydration) advice() string {
	var b strings.Builder
	if h.prepared == nil {
		for _, f := range h.Errors {
			b.WriteString(f.Message + "\n")
		}
		return strings.TrimSuffix(b.String(), "\n")
	}
	fmt.Fprintf(&b, "%s was not run: ", h.Tool)
	for i, f := range h.Errors {
		if i > 0 {
			b.WriteString("; ")
		}
		if f.Path != "" {
			b.WriteString(f.Path + " ")
		}
		b.WriteString(f.Message)
	}
	if !strings.HasSuffix(b.String(), "?") {
		b.WriteByte('.')
	}
	return b.String() + " Call it again with " + h.expected() + "."
}

// maxExpected limits the description of arguments in a refusal, in runes.
const maxExpected = 600

// expected lists the tool's arguments with their types.
func (h Hydration) expected() string {
	shapes, err := schema.ReadShapes(h.prepared.def.Offered())
	if err != nil || len(shapes.Top().Properties) == 0 {
		return "arguments that match its schema"
	}
	top := shapes.Top()
	var list []string
	for _, name := range slices.Sorted(maps.Keys(top.Properties)) {
		words := shapes.Of(top.Properties[name]).Types
		if slices.Contains(top.Required, any(name)) {
			words = append([]string{"required"}, words...)
		}
		if len(words) > 0 {
			name += " (" + strings.Join(words, " ") + ")"
		}
		list = append(list, name)
	}
	return cut(strings.Join(list, ", "), maxExpected)
}
