package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"adze/internal/llm/local"
	"adze/internal/llm/models"
	"adze/internal/llm/ollama"
	"adze/session"
)

const (
	// littleContext is enough for a first request's system prompt and tools, a file and an answer,
	// in tokens.
	littleContext = 8192
	// refusing is the first Ollama version that can refuse a prompt that does not fit; earlier ones
	// cut it.
	refusing = "0.12.6"
	// versionPatience limits the wait for Ollama's models and version.
	versionPatience = time.Second
)

// checkPlace checks a server other than a company's: its program, and whether its model is usable.
func (d Doctor) checkPlace(ctx context.Context, e models.Endpoint, m models.Model) Check {
	f := e.Server().Recognise(ctx)
	if f.Kind == local.Ollama {
		return d.checkInstalled(ctx, e.WithProgram(local.Ollama), e.Native(f.Root), m)
	}
	at := e.DisplayURL() + " answers"
	if program := f.Program(); program != "" {
		at = program + " answers at " + e.DisplayURL()
	}
	var failed *session.ProviderError
	has, listed := f.FindModel(m.Name)
	switch {
	case f.APIAddress != "":
		return d.failing("server", &models.MissingError{Message: e.DisplayURL() + " has no API; it is at " + f.APIAddress, Hint: "write the address with its version"})
	case errors.As(f.Err, &failed) && (failed.Status == 404 || failed.Status == 405):
		return fine("server", e.DisplayURL()+" answers, and does not list its models")
	case f.Err != nil:
		return d.failing("server", f.Err)
	case len(f.Models) == 0:
		return missingCheck("server", at+", and has no model", "load one; adze models --check lists what it has")
	case !listed:
		return missingCheck("server", at+", and does not list "+m.Name, e.Suggest(m.Name, f.Models))
	case has.Tools != nil && !*has.Tools:
		return missingCheck("server", at+", and "+m.Name+" cannot call tools", "it gets them as text, which works less well; choose one that can")
	case has.Limit() > 0 && has.Limit() < littleContext:
		return tight(at, m.Name, has.Limit(), models.LargerAt(f.Kind, m.Name))
	}
	return fine("server", at)
}

// tight warns that little fits beside the system prompt and tools.
func tight(at, model string, tokens int, mend string) Check {
	return missingCheck("server", fmt.Sprintf("%s, and %s has a context of %d tokens, in which a conversation has little room", at, model, tokens), mend)
}

func (d Doctor) checkInstalled(ctx context.Context, e models.Endpoint, p *ollama.Provider, m models.Model) Check {
	ctx, cancel := context.WithTimeout(ctx, versionPatience)
	defer cancel()
	all, err := models.Installed(ctx, p)
	if err != nil {
		return d.failing("server", err)
	}
	version := p.Version(ctx)
	i := slices.IndexFunc(all, func(have local.Model) bool { return have.Name == m.Name || have.Name == m.Name+":latest" })
	at := strings.TrimSpace(e.Program+" "+version) + " answers at " + e.DisplayURL()
	switch {
	case i < 0 && len(all) == 0:
		return d.failing("server", &models.MissingError{Message: e.Program + " has no model yet", Hint: e.Fetch.Command(m.Name)})
	case i < 0:
		return d.failing("server", &models.MissingError{Message: e.Program + " has no model " + m.Name, Hint: e.Fetch.Command(m.Name)})
	case older(version, refusing):
		return missingCheck("server", at+", which cuts prompts that do not fit", "update it: since "+refusing+" it refuses them")
	case all[i].Tools != nil && !*all[i].Tools:
		return missingCheck("server", at+", and "+m.Name+" cannot call tools", "it gets them as text, which works less well; adze models lists those that can")
	case all[i].Context > 0 && all[i].Context < littleContext:
		return tight(at, m.Name, all[i].Context, "choose a model with a larger context")
	}
	return fine("server", at+", and has it")
}

// older reports whether a version 1.2.3 comes before another. It returns false for other forms and
// builds from source.
func older(version, than string) bool {
	a, b := strings.Split(version, "."), strings.Split(than, ".")
	if len(a) != 3 || version == "0.0.0" {
		return false
	}
	for i := range b {
		have, err := strconv.Atoi(strings.SplitN(a[i], "-", 2)[0])
		want, _ := strconv.Atoi(b[i]) // our own constant
		if err != nil || have != want {
			return err == nil && have < want
		}
	}
	return false
}
