package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// prepare erases the types of a checked configuration.
func prepare[Args, Meta any](id string, c Config[Args, Meta], in Init) (*prepared, error) {
	def, err := define(id, c, in)
	if err != nil {
		return nil, err
	}
	return &prepared{
		def:        def,
		redact:     c.Redact,
		argAliases: c.ArgAliases,
		instantiate: func(raw json.RawMessage) (bound, error) {
			var args Args
			if err := decodeArgs(raw, &args); err != nil {
				return nil, err
			}
			return call[Args, Meta]{config: &c, args: args, init: in}, nil
		},
		view: func(raw json.RawMessage) []Block { return viewOf(c.View, raw) },
	}, nil
}

// decodeArgs decodes strictly by type, and accepts 10.0 or 1e1 where the schema's integer allows it.
func decodeArgs(raw json.RawMessage, into any) error {
	err := json.Unmarshal(raw, into)
	var mismatch *json.UnmarshalTypeError
	if !errors.As(err, &mismatch) {
		return err
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	var tree any
	if dec.Decode(&tree) != nil {
		return err
	}
	// Only the failing spelling is rewritten, so numbers beyond 2^53 elsewhere would lose digits here;
	// such a value fits no Go int that refused it, so the second error is the honest one.
	canonical, merr := json.Marshal(tree)
	if merr != nil {
		return err
	}
	return json.Unmarshal(canonical, into)
}

func viewOf[Meta any](view func(Meta) []Block, raw json.RawMessage) (blocks []Block) {
	if len(raw) == 0 {
		return nil
	}
	if view == nil {
		return fallbackView(raw)
	}
	var meta Meta
	if err := json.Unmarshal(raw, &meta); err != nil {
		return fallbackView(raw)
	}
	// A view that panics must not take the interface down with it.
	defer func() {
		if recover() != nil {
			blocks = fallbackView(raw)
		}
	}()
	return view(meta)
}

// call is one call with typed arguments; it implements bound.
type call[Args, Meta any] struct {
	config *Config[Args, Meta]
	args   Args
	init   Init
}

func (c call[Args, Meta]) needs() []Need {
	if c.config.Needs == nil {
		return nil
	}
	return c.config.Needs(c.args)
}

func (c call[Args, Meta]) preview(ctx context.Context) ([]Block, error) {
	if c.config.Preview == nil {
		return nil, nil
	}
	meta, err := c.config.Preview(ctx, c.args)
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(meta)
	if err != nil {
		return nil, fmt.Errorf("encode preview: %w", err)
	}
	return viewOf(c.config.View, raw), nil
}

func (c call[Args, Meta]) run(ctx context.Context, b base) (outcomeParts, error) {
	res, err := c.config.Run(ctx, newContext[Meta](b, c.init), c.args)
	parts := outcomeParts{
		title: res.Title, output: res.Output, attachments: res.Attachments,
		changed: res.Changed, outputFile: res.OutputFile, truncated: res.Truncated, stop: res.Stop && err == nil,
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
	outputFile  string
	truncated   bool
	metadata    json.RawMessage
	attachments []Attachment
	changed     []string
	stop        bool
}
