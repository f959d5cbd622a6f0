package ollama

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"adze/internal/llm/wire"
	"adze/session"
)

const (
	// Limits of detail queries: all, and at once.
	maxShown  = 64
	maxAtOnce = 4
	// of one response, in bytes
	maxDetails = 8 << 20
)

// A Model is a model on the server.
type Model struct {
	Name     string
	Size     int64 // bytes on disk
	Context  int   // in tokens; 0 if unknown
	Tools    bool
	Vision   bool
	Thinking bool
	Loaded   bool // in memory now
	Running  int  // its context in memory; 0 if not loaded or unknown
}

type details struct {
	context    int // the model's limit; 0 if unknown
	configured int // num_ctx in its Modelfile; 0 if none
	tools      bool
	vision     bool
	thinking   bool
	absent     bool // the server has no such endpoint
	toolless   bool // the server refuses requests with tools
}

// Models lists a running server's models, newest first. The caller limits the wait by ctx.
func (p *Provider) Models(ctx context.Context) ([]Model, error) {
	var tags struct {
		Models []struct {
			Name string `json:"name"`
			Size int64  `json:"size"`
		} `json:"models"`
	}
	if err := p.get(ctx, "/api/tags", &tags); err != nil {
		return nil, err
	}
	models := make([]Model, 0, len(tags.Models))
	for _, m := range tags.Models[:min(len(tags.Models), maxShown)] {
		models = append(models, Model{Name: m.Name, Size: m.Size})
	}
	loaded := p.loaded(ctx)
	group, inner := errgroup.WithContext(ctx)
	group.SetLimit(maxAtOnce)
	for i := range models {
		group.Go(func() error {
			m := &models[i]
			d, err := p.details(inner, m.Name)
			if err != nil {
				return inner.Err() // one failure does not hide the others
			}
			m.Context, m.Tools, m.Vision, m.Thinking = d.context, d.tools, d.vision, d.thinking
			m.Running, m.Loaded = loaded[m.Name]
			return nil
		})
	}
	return models, group.Wait()
}

// loaded returns the contexts of the models in memory; nil for an older server.
func (p *Provider) loaded(ctx context.Context) map[string]int {
	var running struct {
		Models []struct {
			Name    string `json:"name"`
			Context int    `json:"context_length"`
		} `json:"models"`
	}
	if p.get(ctx, "/api/ps", &running) != nil {
		return nil
	}
	contexts := map[string]int{}
	for _, m := range running.Models {
		contexts[m.Name] = m.Context
	}
	return contexts
}

func (p *Provider) details(ctx context.Context, model string) (details, error) {
	p.mu.Lock()
	d, ok := p.known[model]
	p.mu.Unlock()
	if ok {
		return p.seen(d), nil
	}
	var shown showAnswer
	body := &wire.Body{}
	body.Add(wire.JSON(map[string]string{"model": model}))
	reply, err := p.Client.Post(ctx, "/api/show", body)
	if err == nil {
		err = p.decode(reply, &shown)
	}
	if err != nil && !unsupported(err) {
		return details{}, err
	}
	d = shown.details()
	d.absent = err != nil
	p.mu.Lock()
	p.known[model] = d
	p.mu.Unlock()
	return p.seen(d), nil
}

// seen applies the user's vision setting to a model's details.
func (p *Provider) seen(d details) details {
	if sees := p.Options.Vision; sees != nil {
		d.vision = *sees
	}
	return d
}

// Version returns the server's version, or "".
func (p *Provider) Version(ctx context.Context) string {
	var told struct{ Version string }
	if p.get(ctx, "/api/version", &told) != nil {
		return ""
	}
	return told.Version
}

// Speaks reports whether the server answers like an Ollama: with a model's details, or that it has
// no such model.
func (p *Provider) Speaks(ctx context.Context, model string) bool {
	d, err := p.details(ctx, model)
	var failure *session.ProviderError
	return err == nil && !d.absent || errors.As(err, &failure) && failure.Kind == session.NoModelError
}

// unsupported reports whether the server lacks the endpoint: a proxy, or another program with
// /api/chat. Its models are used without details.
func unsupported(err error) bool {
	var failure *session.ProviderError
	return errors.As(err, &failure) && failure.Kind == session.RequestError &&
		(failure.Status == http.StatusNotFound || failure.Status == http.StatusMethodNotAllowed)
}

type showAnswer struct {
	Capabilities []string                   `json:"capabilities"`
	Parameters   string                     `json:"parameters"`
	Template     string                     `json:"template"`
	Info         map[string]json.RawMessage `json:"model_info"`
}

func (s showAnswer) details() details {
	d := details{
		tools:    slices.Contains(s.Capabilities, "tools"),
		vision:   slices.Contains(s.Capabilities, "vision"),
		thinking: slices.Contains(s.Capabilities, "thinking"),
	}
	d.toolless = s.Capabilities != nil && !d.tools
	if s.Capabilities == nil { // before version 0.6.4; use the template
		d.tools = strings.Contains(s.Template, ".Tools")
	}
	for key, raw := range s.Info {
		if strings.HasSuffix(key, ".context_length") {
			n, err := strconv.Atoi(string(raw))
			if err == nil && n > d.context {
				d.context = n
			}
		}
	}
	for line := range strings.Lines(s.Parameters) {
		fields := strings.Fields(line)
		if len(fields) == 2 && fields[0] == "num_ctx" {
			if n, err := strconv.Atoi(fields[1]); err == nil && n > 0 {
				d.configured = n
			}
		}
	}
	return d
}

func (p *Provider) get(ctx context.Context, path string, into any) error {
	reply, err := p.Client.Open(ctx, wire.Call{Method: http.MethodGet, URL: p.base + path, Header: wire.Bearer(nil, p.Options.Key)})
	if err != nil {
		return err
	}
	return p.decode(reply, into)
}

func (p *Provider) decode(reply *wire.Reply, into any) error {
	defer reply.Close()
	raw, err := io.ReadAll(io.LimitReader(reply, maxDetails))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return p.Client.Malformed(raw, false)
	}
	return nil
}
