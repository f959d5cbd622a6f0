package local

import "context"

// lmStudio queries the server's own API, /api/v1 since version 0.4 and /api/v0 since 0.3.6, or else
// the OpenAI-compatible list, which has only names. A version without an address answers 404, or
// 200 with an error object.
func (a asker) lmStudio(ctx context.Context) ([]Model, error) {
	raw, err := a.get(ctx, a.root()+"/api/v1/models")
	if err == nil {
		if entries, ok := entriesIn(raw); ok {
			return instances(entries), nil
		}
	}
	if err == nil || absent(err) {
		var models []Model
		if models, err = a.list(ctx, a.root()+"/api/v0/models"); err == nil {
			return models, nil
		}
	}
	if ctx.Err() != nil || !absent(err) && !said(err) {
		return nil, err
	}
	return a.list(ctx, a.listURL())
}

// instances reads /api/v1/models, which lists a model's loaded instances.
func instances(entries []entry) []Model {
	var out []Model
	for _, e := range entries {
		m, ok := e.model()
		if !ok {
			continue
		}
		loaded := e.entries("loaded_instances")
		m.Loaded = new(len(loaded) > 0)
		for i, one := range loaded {
			// A model's name means the instance of the same name, else the first.
			if n := one.in("config").count("context_length"); n > 0 && (i == 0 || one.text("id") == m.Name) {
				m.Context = n
			}
		}
		out = append(out, m)
	}
	return out
}
