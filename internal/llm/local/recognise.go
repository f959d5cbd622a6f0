package local

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"adze/internal/llm/wire"
	"adze/session"
)

// Ollama is a server with its own format beside the compatible ones.
const Ollama Kind = "ollama"

// ServerInfo describes the program at an address.
type ServerInfo struct {
	Kind    Kind
	Version string // if Ollama
	// Root is the address without the version of a compatible API.
	Root   string
	Models []Model // from its list and the program's own API
	// APIAddress is the real address of the compatible API, if the given one lacks its version.
	APIAddress string
	// Err is why there is no list; the program may be known anyway.
	Err error `json:"-"`
	// Slow: the query timed out. Unreached: no connection was accepted.
	Slow, Unreached bool
	// Signature identifies the first response. It stays the same as long as the server does.
	Signature string
}

// rememberTime is how long results are reused. A restarted program may list the same models with
// another context.
const rememberTime = 10 * time.Minute

// program is the kind of finding for the program at an address.
const program = "program"

// Recall is Recognise with one request instead of up to four, if its response is the same as a few
// minutes ago.
func (s Server) Recall(ctx context.Context, findings *wire.Findings) ServerInfo {
	var was ServerInfo
	if findings.Fresh(s.Base, "", program, rememberTime, &was) {
		inner, cancel := context.WithTimeout(ctx, s.patience())
		defer cancel()
		a := asker{server: s, client: s.client(s.patience())}
		defer a.client.HTTP.CloseIdleConnections()
		models, err := a.list(inner, a.listURL())
		if signature(models, err) == was.Signature {
			if was.APIAddress == "" {
				was.Err = err
			}
			return was
		}
	}
	f := s.Recognise(ctx)
	if !f.Slow && !f.Unreached {
		findings.Keep(s.Base, "", program, f)
	}
	return f
}

// signature identifies a response to the list request.
func signature(models []Model, err error) string {
	sum := sha256.Sum256(wire.JSON(struct {
		Models []Model
		Err    string
	}{models, fmt.Sprint(err)}))
	return hex.EncodeToString(sum[:8])
}

// Recognise finds out which program answers at Base, whatever s.Kind is. It requests the list and
// an Ollama's version together, then the program's own API.
func (s Server) Recognise(ctx context.Context) ServerInfo {
	patience := s.patience()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	a := asker{server: s, client: s.client(patience)}
	defer a.client.HTTP.CloseIdleConnections()
	f := ServerInfo{Root: a.root()}
	var version string
	group, inner := errgroup.WithContext(ctx)
	group.Go(func() error {
		f.Models, f.Err = a.list(inner, a.listURL())
		f.Signature = signature(f.Models, f.Err)
		if f.Err != nil && a.root() == strings.TrimRight(s.Base, "/") && inner.Err() == nil {
			a.unversioned(inner, &f)
		}
		return nil
	})
	group.Go(func() error {
		version = a.version(inner)
		return nil
	})
	_ = group.Wait() // both report through variables
	f.Kind = kindOf(f.Models, version)
	f.Slow = ctx.Err() != nil && f.Kind == Any
	var failed *session.ProviderError
	f.Unreached = !f.Slow && f.Kind == Any && errors.As(f.Err, &failed) && failed.Kind == session.NetworkError
	if f.Kind == Ollama {
		f.Version = version
		return f
	}
	if f.Kind != Any {
		a.server.Kind = f.Kind
		if more, err := a.models(ctx); err == nil {
			f.Models = more
		}
	}
	return f
}

// unversioned looks for a list below /v1 if the given address has no version.
func (a asker) unversioned(ctx context.Context, f *ServerInfo) {
	base := a.root() + "/v1"
	models, err := a.list(ctx, base+"/models")
	if err == nil {
		f.Models, f.Err, f.APIAddress = models, nil, base
	}
}

// version returns an Ollama's version, or "". Open WebUI answers at the same address with more
// fields.
func (a asker) version(ctx context.Context) string {
	raw, err := a.get(ctx, a.root()+"/api/version")
	if err != nil {
		return ""
	}
	var told map[string]json.RawMessage
	var version string
	if json.Unmarshal(raw, &told) != nil || len(told) != 1 || json.Unmarshal(told["version"], &version) != nil {
		return ""
	}
	return version
}

// kindOf identifies a program by entries that only its list has.
func kindOf(models []Model, version string) Kind {
	owned := func(by string) bool {
		return slices.ContainsFunc(models, func(m Model) bool { return m.Owner == by })
	}
	switch {
	case owned("llamacpp"):
		return LlamaCPP
	case owned("vllm"):
		return VLLM
	case owned("organization_owner"):
		return LMStudio
	case owned("koboldcpp"): // imitates an Ollama but takes no context
		return Any
	case version != "":
		return Ollama
	}
	return Any
}

// FindModel finds a model in the list.
func (f ServerInfo) FindModel(name string) (Model, bool) {
	at := slices.IndexFunc(f.Models, func(m Model) bool { return m.Name == name })
	if at < 0 && f.Kind == Ollama {
		at = slices.IndexFunc(f.Models, func(m Model) bool { return m.Name == name+":latest" })
	}
	if at < 0 && len(f.Models) == 1 && f.Kind == LlamaCPP { // it accepts any name
		at = 0
	}
	if at < 0 {
		return Model{}, false
	}
	return f.Models[at], true
}

// Program returns the program's name and known version, or "" if unknown.
func (f ServerInfo) Program() string {
	switch f.Kind {
	case Ollama:
		return "Ollama " + f.Version
	case LlamaCPP:
		return "llama.cpp"
	case LMStudio:
		return "LM Studio"
	case VLLM:
		return "vLLM"
	}
	return ""
}

// Advice returns a hint for a failed request to a model, or "" if the findings do not explain it.
// It checks the key first: a server refuses everything without the right key.
func (f ServerInfo) Advice(model string, failed *session.ProviderError) string {
	var listed *session.ProviderError
	if failed.Kind == session.AuthError || errors.As(f.Err, &listed) && listed.Kind == session.AuthError {
		return ""
	}
	_, has := f.FindModel(model)
	switch {
	case f.APIAddress != "" && failed.Kind == session.RequestError:
		return "the API is at " + wire.DisplayURL(f.APIAddress) + ": write the address with its version"
	case f.Err == nil && len(f.Models) == 0 && f.Kind != Any:
		return f.Program() + " has no model yet: " + f.getOne(model)
	case f.Err == nil && len(f.Models) > 0 && !has && (failed.Kind == session.NoModelError || failed.Kind == session.RequestError && failed.Status == 404):
		return "it has " + names(f.Models) + "; " + f.getOne(model)
	}
	return ""
}

// getOne returns how the program gets a model.
func (f ServerInfo) getOne(model string) string {
	switch f.Kind {
	case Ollama:
		return "get one with: ollama pull " + model
	case LMStudio:
		return "load one in LM Studio, or with: lms load"
	}
	return "choose one of them with --model"
}

const mostNames = 5

func names(models []Model) string {
	var out []string
	for _, m := range models[:min(len(models), mostNames)] {
		out = append(out, m.Name)
	}
	if len(models) > mostNames {
		out = append(out, "…")
	}
	return strings.Join(out, ", ")
}
