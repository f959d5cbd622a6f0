package local

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"

	"golang.org/x/sync/errgroup"
)

// maxProps bounds how many loaded models of one llama.cpp are asked for their properties, and
// atOnce how many together.
const (
	maxProps = 16
	atOnce   = 4
)

// llamaCPP asks for the list and for the properties of the running model together. A server that
// has several models ("router mode") is asked for those of each loaded one, and told not to load
// others for it.
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
		return nil // the list tells what is wrong
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
				return nil // one that does not answer hides no other
			})
		}
	}
	return models, group.Wait()
}

// props is what GET /props tells that matters.
type props struct {
	Settings struct {
		Context int `json:"n_ctx"` // of one slot, which is what a request gets
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

// tell adds the properties to what the list told.
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
	case p.Template != nil: // before the server told it itself
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
