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

// Stage names the step of hydration that found a fault.
type Stage string

// Stages, in their order.
const (
	StageLookup      Stage = "lookup"
	StageParse       Stage = "parse"
	StageValidate    Stage = "validate"
	StageInstantiate Stage = "instantiate"
)

// Fault is one thing wrong with a call. Message never repeats the raw arguments.
type Fault struct {
	Stage   Stage  `json:"stage"`
	Code    string `json:"code"`
	Message string `json:"message"`
	Path    string `json:"path,omitempty"` // JSON pointer
	Detail  string `json:"detail,omitempty"`
}

// Provenance tells how a call came to its arguments. Original and the Before of Dialect and Repair
// are what the model wrote, unredacted: they are for the caller that has the model's message
// anyway, never for log or audit.
type Provenance struct {
	ProviderID CallID          `json:"provider_id"`
	Original   string          `json:"original_arguments"`
	Parsed     json.RawMessage `json:"parsed,omitempty"`
	Validated  json.RawMessage `json:"validated,omitempty"`
	Validator  *ValidatorInfo  `json:"validator,omitempty"`
	Origin     Origin          `json:"origin"`
	Alias      string          `json:"alias,omitempty"` // the name the model used
	// Dialect is how arguments in another assistant's words were read. It is no repair: nothing was
	// wrong with them but the words.
	Dialect *Repair `json:"dialect,omitempty"`
	Repair  *Repair `json:"repair,omitempty"`
	// NoSchemaMode is set where nothing could be validated, and says what such a call may do.
	NoSchemaMode NoSchemaMode  `json:"no_schema_mode,omitempty"`
	Duration     time.Duration `json:"duration_ns"`
}

// ValidatorInfo names the validator that accepted or refused the arguments; there is none before a
// call was parsed, and none for a tool without a schema.
type ValidatorInfo struct {
	Name       string    `json:"name"`
	Version    string    `json:"version"`
	CompiledAt time.Time `json:"compiled_at"` // when the tool's schema was compiled
}

// Hydration is what came of a call's arguments. Only Runner.Hydrate makes one that can run.
type Hydration struct {
	OK         bool       `json:"ok"`
	Call       CallID     `json:"call"`
	Tool       string     `json:"tool"`
	Errors     []Fault    `json:"errors"`
	Provenance Provenance `json:"provenance"`

	message  string
	prepared *initTool
	bound    *call
	ran      *atomic.Bool // one call, one outcome: the second Exec is refused
}

// Concurrent reports whether the call may run beside others.
func (h Hydration) Concurrent() bool {
	return h.runnable() && (h.prepared.def.Concurrent() || h.bound.concurrent())
}

// Reads reports whether the call does nothing but look at files that it names, or does not run at
// all because of its faults.
func (h Hydration) Reads() (yes bool) {
	if !h.runnable() {
		return true
	}
	defer func() {
		if recover() != nil { // an author's function is trusted no further than it runs
			yes = false
		}
	}()
	other := func(p Permission) bool { return p != Read }
	needs := h.bound.needs()
	return len(needs) > 0 && !slices.ContainsFunc(h.prepared.def.Permissions.Required, other) &&
		!slices.ContainsFunc(needs, func(n Need) bool { return n.Permission != Read || n.Reach != "" })
}

// Intends reports whether the call, if it runs, has its intent recorded before.
func (h Hydration) Intends() bool {
	return h.runnable() && h.prepared.def.Permissions.SideEffects()
}

// Exposed is what of its arguments may be shown and logged.
func (h Hydration) Exposed() json.RawMessage {
	if h.prepared == nil {
		return json.RawMessage(`{}`)
	}
	return h.prepared.redact.Apply(h.Provenance.Parsed)
}

// runnable does not trust OK alone: anybody can set that.
func (h Hydration) runnable() bool {
	return h.OK && h.bound != nil && h.prepared != nil && h.ran != nil
}

// Hydrate turns each request into a structured result, in order; it never fails and never panics.
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

// maxArguments bounds the arguments of a call, in bytes. It is more than a model can write in an
// answer; each byte is parsed, validated, redacted and masked several times.
const maxArguments = 8 << 20

func (r *Runner) hydrate(ctx context.Context, s *Set, raw RawCall, duplicate bool) (h Hydration) {
	h = Hydration{Call: raw.ID, Tool: raw.Name, message: raw.Message, ran: new(atomic.Bool), Errors: []Fault{}, Provenance: Provenance{
		ProviderID: raw.ID, Original: raw.Arguments, Origin: raw.Origin,
	}}
	if h.Provenance.Origin == "" {
		h.Provenance.Origin = Native
	}
	// Instantiation may run an author's UnmarshalJSON.
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

// aliased notes that a call was made in another assistant's words.
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

// accept parses and validates arguments as they stand.
func (h *Hydration) accept(arguments string) (parsedObject, []Fault) {
	args, faults := parse(arguments)
	if len(faults) > 0 {
		return parsedObject{}, faults
	}
	h.Provenance.Parsed = args.raw
	return args, h.validate(args.tree)
}

// parse reads a JSON object; models write "", null or nothing for a call without arguments.
func parse(arguments string) (parsedObject, []Fault) {
	text := strings.TrimSpace(arguments)
	if text == "" || text == "null" {
		text = "{}"
	}
	if !utf8.ValidString(text) {
		// The decoder would replace what is not UTF-8, and a file would be written with other
		// bytes.
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
	if !h.prepared.def.AllowNoSchema { // nothing validated those
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

// advice is what the model reads when its call could not run.
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

// maxExpected bounds, in runes, what a refusal says of the arguments.
const maxExpected = 600

// expected names the arguments that the tool offers, with their types.
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
