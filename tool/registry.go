package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// Registry holds declared tools in registration order. The zero value is ready to use with the
// default Validator. It is safe for concurrent use.
type Registry struct {
	// Validator compiles schemas; nil means JSONSchema. Set it, and the other fields, before the
	// first Tools.
	Validator Validator
	// CompileAll compiles every schema in Tools, so that a bad one fails there; otherwise each compiles
	// at its first call, for a faster start.
	CompileAll bool
	// Now is the clock for compile times; nil means time.Now.
	Now func() time.Time

	mu     sync.Mutex
	tools  []Tool
	owners map[string]string // lower-case names and aliases with their tools
}

// Register adds a tool. It reports all errors at once: a bad or taken name or alias, a missing
// schema, one that violates its metaschema, an invalid pattern, a remote $ref, no Redact, an
// unknown permission. Names ignore case, as models do.
func (r *Registry) Register(t Tool) error {
	if !goodName(t.id) {
		return fmt.Errorf("tool %q: bad name: want a letter, then up to 63 letters, digits, _ or -", t.id)
	}
	if t.check == nil || t.load == nil {
		return fmt.Errorf("tool %s: not made by Define or DefineFunc", t.id)
	}
	if err := t.check(); err != nil {
		return err
	}
	return r.RegisterTested(t)
}

// RegisterTested adds a constant declaration that a test passes to Register. To save time at each
// start, it checks only whether the names are taken.
func (r *Registry) RegisterTested(t Tool) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.claim(t); err != nil {
		return err
	}
	r.tools = append(r.tools, t)
	return nil
}

// claim reserves the tool's name and aliases, or none.
func (r *Registry) claim(t Tool) error {
	names := append([]string{t.id}, t.aliases...)
	for i, name := range names {
		owner, taken := r.owners[strings.ToLower(name)]
		switch {
		case !taken:
		case i > 0 && owner == t.id:
		case strings.EqualFold(owner, name) && i == 0:
			return fmt.Errorf("tool %s: a tool of this name is registered already", t.id)
		case i == 0:
			return fmt.Errorf("tool %s: the name is an alias of the tool %s; choose another", t.id, owner)
		default:
			return fmt.Errorf("tool %s: the alias %q is taken by the tool %s", t.id, name, owner)
		}
	}
	if r.owners == nil {
		r.owners = map[string]string{}
	}
	for _, name := range names {
		r.owners[strings.ToLower(name)] = t.id
	}
	return nil
}

// Unregister removes a tool from future Sets and reports whether it existed. Existing Sets keep it.
func (r *Registry) Unregister(id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := len(r.tools)
	maps.DeleteFunc(r.owners, func(_, owner string) bool { return owner == id })
	r.tools = slices.DeleteFunc(r.tools, func(t Tool) bool { return t.id == id })
	return len(r.tools) < before
}

// Get returns a copy of one definition, initialized with empty directories; false if it is not
// registered or cannot be initialized.
func (r *Registry) Get(id string) (Definition, bool) {
	for _, t := range r.all() {
		if t.id == id {
			p, err := t.load(context.Background(), Init{})
			if err != nil {
				return Definition{}, false
			}
			return p.def.Clone(), true
		}
	}
	return Definition{}, false
}

// Enabled returns copies of the definitions whose required permissions are all granted, in order,
// without uninitializable tools.
func (r *Registry) Enabled(granted ...Permission) []Definition {
	var out []Definition
	for _, t := range r.all() {
		p, err := t.load(context.Background(), Init{})
		if err != nil {
			continue
		}
		missing := func(need Permission) bool { return !slices.Contains(granted, need) }
		if !slices.ContainsFunc(p.def.Permissions.Required, missing) {
			out = append(out, p.def.Clone())
		}
	}
	return out
}

func (r *Registry) all() []Tool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.tools)
}

// Tools initializes and describes every tool once and returns an immutable Set. Schemas compile on
// first use, or here with CompileAll. One tool that cannot be initialized fails the call: a missing
// tool must not go unnoticed.
func (r *Registry) Tools(ctx context.Context, in Init) (*Set, error) {
	validator := r.Validator
	if validator == nil {
		validator = JSONSchema{}
	}
	in.Vars = maps.Clone(in.Vars) // shared by all calls in the set
	all := r.all()
	set := newSet(len(all))
	owners := map[string]string{}
	for _, t := range all {
		p, err := t.load(ctx, in)
		if err != nil {
			return nil, err
		}
		for _, alias := range p.def.Aliases { // DefineFunc's are known only now
			if owner, taken := owners[strings.ToLower(alias)]; taken && owner != t.id {
				return nil, fmt.Errorf("tool %s: the alias %q is taken by the tool %s", t.id, alias, owner)
			}
			owners[strings.ToLower(alias)] = t.id
		}
		p.check = r.compiler(validator, p.def.Parameters)
		if err := r.eagerly(p); err != nil {
			return nil, err
		}
		set.add(p)
	}
	return set, nil
}

// compiler compiles a schema once, on first use.
func (r *Registry) compiler(v Validator, schema json.RawMessage) func() (compiledCheck, error) {
	now := r.Now
	if now == nil {
		now = time.Now
	}
	return sync.OnceValues(func() (compiledCheck, error) {
		return sound(func() (compiledCheck, error) {
			check, err := v.Compile(schema)
			return compiledCheck{check, ValidatorInfo{Name: v.Name(), Version: v.Version(), CompiledAt: now()}}, err
		})
	})
}

func (r *Registry) eagerly(p *initTool) error {
	if !r.CompileAll || p.def.AllowNoSchema {
		return nil
	}
	if _, err := p.check(); err != nil {
		return fmt.Errorf("tool %s: %w", p.def.Name, err)
	}
	return nil
}
