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

// hooks are the typed functions of a Config.
type hooks[Args, Meta any] struct {
	needs   func(Args) []Need
	beside  func(Args) bool
	check   func(context.Context, Context[Meta], Args) error
	preview func(context.Context, Args) (Meta, error)
	without func(context.Context, Args, []int) (Args, error)
	run     func(context.Context, Context[Meta], Args) (Result[Meta], error)
	view    func(Meta) []Block
	heading func(Args, Meta) Heading
}

func hooksOf[Args, Meta any](c Config[Args, Meta]) *hooks[Args, Meta] {
	return &hooks[Args, Meta]{needs: c.Needs, beside: c.Concurrent, check: c.Check, preview: c.Preview, without: c.Without, run: c.Run, view: c.View, heading: c.Heading}
}

// prepare erases the types of a checked declaration.
func prepare[Args, Meta any](d *declaration, h *hooks[Args, Meta], in Init) (*prepared, error) {
	def, err := d.define(in)
	if err != nil {
		return nil, err
	}
	names := schema.FaceOf(d.args)
	return &prepared{
		def:        def,
		redact:     d.redact,
		argAliases: d.argAliases,
		idioms:     d.idioms,
		instead:    d.instead,
		verbs:      d.verbs,
		kin:        d.kin,
		output:     d.output,
		editable:   d.editable,
		unoffered:  d.unoffered,
		instantiate: func(given parsed) (bound, error) {
			var args Args
			if err := decodeArgs(given, names(), &args); err != nil {
				return nil, err
			}
			return call[Args, Meta]{hooks: h, args: args, init: in}, nil
		},
		view: func(raw json.RawMessage) []Block { return viewOf(h.view, raw) },
		heading: func(args, meta json.RawMessage) Heading {
			return headingOf(h.heading, args, meta)
		},
	}, nil
}

// decodeArgs decodes by type and exact name, and accepts 10.0 or 1e1 where the schema's integer
// allows it.
func decodeArgs(args parsed, names *schema.Face, into any) error {
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

// decodeTree keeps numbers as they are written.
func decodeTree(raw json.RawMessage) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var tree any
	err := dec.Decode(&tree)
	return tree, err
}

// plainIntegers writes whole numbers without point and exponent; beyond 2^53 a float is not exact,
// and numbers that are plain already keep all their digits.
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

func viewOf[Meta any](view func(Meta) []Block, raw json.RawMessage) (blocks []Block) {
	if len(raw) == 0 {
		return nil
	}
	if view == nil {
		return fallbackView(raw)
	}
	// A view that panics, or metadata that does when it is decoded, must not take the interface
	// down with it.
	defer func() {
		if recover() != nil {
			blocks = fallbackView(raw)
		}
	}()
	var meta Meta
	if err := json.Unmarshal(raw, &meta); err != nil {
		return fallbackView(raw)
	}
	return view(meta)
}

// call is one call with typed arguments; it implements bound.
type call[Args, Meta any] struct {
	hooks *hooks[Args, Meta]
	args  Args
	init  Init
}

func (c call[Args, Meta]) needs() []Need {
	if c.hooks.needs == nil {
		return nil
	}
	return c.hooks.needs(c.args)
}

// concurrent trusts an author's function no further than it runs: one that panics has said no.
func (c call[Args, Meta]) concurrent() (yes bool) {
	defer func() {
		if recover() != nil {
			yes = false
		}
	}()
	return c.hooks.beside != nil && c.hooks.beside(c.args)
}

func (c call[Args, Meta]) check(ctx context.Context, b base) error {
	if c.hooks.check == nil {
		return nil
	}
	return c.hooks.check(ctx, newContext[Meta](b, c.init), c.args)
}

func (c call[Args, Meta]) preview(ctx context.Context) ([]Block, error) {
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
	return viewOf(c.hooks.view, raw), nil
}

func (c call[Args, Meta]) parts() bool { return c.hooks.without != nil }

func (c call[Args, Meta]) without(ctx context.Context, refused []int) (json.RawMessage, error) {
	args, err := c.hooks.without(ctx, c.args, refused)
	if err != nil {
		return nil, err
	}
	return json.Marshal(args)
}

func (c call[Args, Meta]) run(ctx context.Context, b base) (outcomeParts, error) {
	res, err := c.hooks.run(ctx, newContext[Meta](b, c.init), c.args)
	parts := outcomeParts{
		title: res.Title, output: res.Output, attachments: res.Attachments,
		changed: res.Changed, whole: res.Whole, outputFile: res.OutputFile, truncated: res.Truncated, sandbox: res.Sandbox, refused: res.Refused, tried: res.Tried, carried: res.Carried, stop: res.Stop && err == nil, pending: res.Pending,
	}
	if err != nil && reflect.ValueOf(&res.Metadata).Elem().IsZero() {
		return parts, err // nothing to show; what was streamed stays
	}
	raw, merr := json.Marshal(res.Metadata)
	if merr != nil {
		return parts, errors.Join(err, fmt.Errorf("encode metadata: %w", merr))
	}
	parts.metadata = raw
	return parts, err
}

// outcomeParts is a Result with its metadata encoded.
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
	tried       []TriedFile
	carried     []Carried
	stop        bool
	pending     bool
}
