package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"

	"adze/tool/schema"
)

// hooks are a Config's functions with erased types: args is a *Args, meta a *Meta. They are
// compiled once for every tool, so each does only the part that needs its types.
type hooks struct {
	args, meta func() any // return zero values
	needs      func(args any) []Need
	beside     func(args any) bool
	check      func(ctx context.Context, c Common, args any) error
	preview    func(ctx context.Context, args any) (meta any, err error)
	without    func(ctx context.Context, args any, refused []int) (any, error)
	run        func(ctx context.Context, c Common, args any) (parts outcomeParts, meta any, err error)
	view       func(meta any) []Block
	heading    func(args, meta any) Heading
}

func hooksOf[Args, Meta any](c Config[Args, Meta]) *hooks {
	h := &hooks{args: func() any { return new(Args) }, meta: func() any { return new(Meta) }}
	if f := c.Needs; f != nil {
		h.needs = func(args any) []Need { return f(*args.(*Args)) }
	}
	if f := c.Concurrent; f != nil {
		h.beside = func(args any) bool { return f(*args.(*Args)) }
	}
	if f := c.Check; f != nil {
		h.check = func(ctx context.Context, c Common, args any) error { return f(ctx, Context[Meta]{c}, *args.(*Args)) }
	}
	if f := c.Preview; f != nil {
		h.preview = func(ctx context.Context, args any) (any, error) {
			meta, err := f(ctx, *args.(*Args))
			return &meta, err
		}
	}
	if f := c.WithoutHunks; f != nil {
		h.without = func(ctx context.Context, args any, refused []int) (any, error) { return f(ctx, *args.(*Args), refused) }
	}
	if f := c.Run; f != nil {
		h.run = func(ctx context.Context, c Common, args any) (outcomeParts, any, error) {
			res, err := f(ctx, Context[Meta]{c}, *args.(*Args))
			return res.parts(), &res.Metadata, err
		}
	}
	if f := c.View; f != nil {
		h.view = func(meta any) []Block { return f(*meta.(*Meta)) }
	}
	if f := c.Heading; f != nil {
		h.heading = func(args, meta any) Heading { return f(*args.(*Args), *meta.(*Meta)) }
	}
	return h
}

// prepare creates a tool from a checked declaration.
func prepare(d *declaration, h *hooks, in Init) (*initTool, error) {
	def, err := d.define(in)
	if err != nil {
		return nil, err
	}
	names := schema.FaceOf(d.args)
	return &initTool{
		def:       def,
		redact:    d.redact,
		compat:    d.compat,
		output:    d.output,
		editable:  d.editable,
		unoffered: d.unoffered,
		instantiate: func(given parsedObject) (*call, error) {
			args := h.args()
			if err := decodeArgs(given, names(), args); err != nil {
				return nil, err
			}
			return &call{hooks: h, args: args, init: in}, nil
		},
		view:    h.viewOf,
		heading: h.headingOf,
	}, nil
}

// decodeArgs decodes by type and exact name. It accepts 10.0 or 1e1 if the schema's integer does.
func decodeArgs(args parsedObject, names *schema.Face, into any) error {
	if wrong := names.Exact(args.tree); wrong != nil {
		return wrong
	}
	err := json.Unmarshal(args.raw, into)
	var mismatch *json.UnmarshalTypeError
	if !errors.As(err, &mismatch) {
		return err
	}
	tree, terr := decodeTree(args.raw)
	if terr != nil {
		return err
	}
	canonical, merr := json.Marshal(plainIntegers(tree))
	if merr != nil {
		return err
	}
	return json.Unmarshal(canonical, into)
}

func decodeTree(raw json.RawMessage) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var tree any
	err := dec.Decode(&tree)
	return tree, err
}

// plainIntegers removes the point and exponent from whole numbers. Plain ones keep all digits;
// floats above 2^53 are not exact.
func plainIntegers(value any) any {
	switch v := value.(type) {
	case json.Number:
		f, err := v.Float64()
		if err == nil && strings.ContainsAny(v.String(), ".eE") && f == math.Trunc(f) && math.Abs(f) <= 1<<53 {
			return json.Number(strconv.FormatInt(int64(f), 10))
		}
	case []any:
		for i, child := range v {
			v[i] = plainIntegers(child)
		}
	case map[string]any:
		for name, child := range v {
			v[name] = plainIntegers(child)
		}
	}
	return value
}

func (h *hooks) viewOf(raw json.RawMessage) (blocks []Block) {
	if len(raw) == 0 {
		return nil
	}
	if h.view == nil {
		return fallbackView(raw)
	}
	// A panic in a view or in decoding metadata must not crash the interface.
	defer func() {
		if recover() != nil {
			blocks = fallbackView(raw)
		}
	}()
	meta := h.meta()
	if err := json.Unmarshal(raw, meta); err != nil {
		return fallbackView(raw)
	}
	return h.view(meta)
}

type call struct {
	hooks *hooks
	args  any
	init  Init
}

func (c *call) needs() []Need {
	if c.hooks.needs == nil {
		return nil
	}
	return c.hooks.needs(c.args)
}

// concurrent treats a panic in the author's function as false.
func (c *call) concurrent() (yes bool) {
	defer func() {
		if recover() != nil {
			yes = false
		}
	}()
	return c.hooks.beside != nil && c.hooks.beside(c.args)
}

func (c *call) check(ctx context.Context, b Common) error {
	if c.hooks.check == nil {
		return nil
	}
	b.Init = c.init
	return c.hooks.check(ctx, b, c.args)
}

func (c *call) preview(ctx context.Context) ([]Block, error) {
	if c.hooks.preview == nil {
		return nil, nil
	}
	meta, err := c.hooks.preview(ctx, c.args)
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(meta)
	if err != nil {
		return nil, fmt.Errorf("encode preview: %w", err)
	}
	return c.hooks.viewOf(raw), nil
}

func (c *call) parts() bool { return c.hooks.without != nil }

func (c *call) without(ctx context.Context, refused []int) (json.RawMessage, error) {
	args, err := c.hooks.without(ctx, c.args, refused)
	if err != nil {
		return nil, err
	}
	return json.Marshal(args)
}

func (c *call) run(ctx context.Context, b Common) (outcomeParts, error) {
	b.Init = c.init
	parts, meta, err := c.hooks.run(ctx, b, c.args)
	parts.stop = parts.stop && err == nil
	if err != nil && reflect.ValueOf(meta).Elem().IsZero() {
		return parts, err // nothing to show; streamed metadata stays
	}
	raw, merr := json.Marshal(meta)
	if merr != nil {
		return parts, errors.Join(err, fmt.Errorf("encode metadata: %w", merr))
	}
	parts.metadata = raw
	return parts, err
}

func (r *Result[Meta]) parts() outcomeParts {
	return outcomeParts{
		title: r.Title, output: r.Output, attachments: r.Attachments,
		changed: r.Changed, whole: r.FullOutput, outputFile: r.OutputFile, truncated: r.Truncated, sandbox: r.Sandbox, refused: r.Refused, carried: r.Traffic, stop: r.Stop, pending: r.Pending,
	}
}

// outcomeParts is a Result with encoded metadata.
type outcomeParts struct {
	title       string
	output      string
	whole       string
	outputFile  string
	truncated   bool
	metadata    json.RawMessage
	attachments []Attachment
	changed     []string
	sandbox     string
	refused     []Refusal
	carried     []HostTraffic
	stop        bool
	pending     bool
}
