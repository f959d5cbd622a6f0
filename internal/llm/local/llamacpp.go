package local

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"

	"golang.org/x/sync/errgroup"
)

// Limits of /props queries to one llama.cpp: all, and at once.
const (
	maxProps = 16
	atOnce   = 4
)

// llamaCPP queries the list and the running model's properties together. A server with several
// models ("router mode") is queried for each loaded one, without loading others.
func (a asker) llamaCPP(ctx context.Context) ([]Model, error) {
	var models []Model
	var own props
	group, inner := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		models, err = a.list(inner, a.listURL())
		return err
	})
	group.Go(func() error {
		own = a.props(inner, "")
		return nil // the list query reports the error
	})
	if err := group.Wait(); err != nil {
		return nil, err
	}
	if len(models) == 1 && models[0].Loaded == nil {
		own.tell(&models[0])
		return models, nil
	}
	group, inner = errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	left := maxProps
	for i := range models {
		if m := &models[i]; m.Loaded != nil && *m.Loaded && left > 0 {
			left--
			group.Go(func() error {
				p := a.props(inner, m.Name)
				p.tell(m)
				return nil // one failure does not hide the others
			})
		}
	}
	return models, group.Wait()
}

// props holds the used fields of GET /props.
type props struct {
	Settings struct {
		Context int `json:"n_ctx"` // of one slot, which serves one request
	} `json:"default_generation_settings"`
	Template *string `json:"chat_template"`
	Caps     *struct {
		Tools     bool `json:"supports_tools"`
		ToolCalls bool `json:"supports_tool_calls"`
	} `json:"chat_template_caps"`
	Modalities *struct {
		Vision bool `json:"vision"`
	} `json:"modalities"`
	known bool
}

func (a asker) props(ctx context.Context, model string) props {
	at := a.root() + "/props"
	if model != "" {
		at += "?" + url.Values{"model": {model}, "autoload": {"false"}}.Encode()
	}
	raw, err := a.get(ctx, at)
	if err != nil {
		return props{}
	}
	var p props
	p.known = json.Unmarshal(raw, &p) == nil
	return p
}

// tell adds the properties to the listed model.
func (p props) tell(m *Model) {
	if !p.known {
		return
	}
	if p.Settings.Context > 0 {
		m.Context = p.Settings.Context
	}
	switch {
	case p.Caps != nil:
		m.Tools = new(p.Caps.Tools || p.Caps.ToolCalls)
	case p.Template != nil: // servers before chat_template_caps
		m.Tools = new(strings.Contains(*p.Template, "tools"))
	}
	if p.Template != nil {
		m.Thinking = new(strings.Contains(*p.Template, "enable_thinking") || strings.Contains(*p.Template, "reasoning_effort"))
	}
	if p.Modalities != nil {
		m.Vision = new(p.Modalities.Vision)
	}
	m.Loaded = new(true)
}
