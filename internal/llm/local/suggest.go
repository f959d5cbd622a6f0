package local

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"adze/session"
	"adze/tool"
)

// how long the user waits for the list after an error
const suggestTime = 3 * time.Second

const mostSuggested = 8

// Suggest names a server's models in the error about an unknown one. The server is asked only after
// such an error.
func Suggest(models func(context.Context) ([]string, error)) Decorator {
	return func(p session.Provider) session.Provider {
		return decorated{p, func(ctx context.Context, r session.Request, yield func(session.Chunk) bool) {
			ending(p.Stream(ctx, r), yield, func(done session.Done) session.Done {
				suggest(ctx, p.Name(), r.Model, done.Err, models)
				return done
			})
		}}
	}
}

func suggest(ctx context.Context, server, model string, err error, models func(context.Context) ([]string, error)) {
	var failed *session.ProviderError
	if !errors.As(err, &failed) || failed.Kind != session.NoModelError {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, suggestTime)
	defer cancel()
	names, err := models(ctx)
	if err != nil || len(names) == 0 || slices.Contains(names, model) { // the model exists, so something else is wrong
		return
	}
	slices.Sort(names)
	listed := strings.Contains(failed.Hint, " has ") // the route has already named them
	if near := tool.Nearest(model, names, 1); len(near) == 1 {
		failed.Hint = fmt.Sprintf("did you mean %s/%s?\n%s", server, near[0], failed.Hint)
	}
	if listed {
		return
	}
	rest := ""
	if n := len(names) - mostSuggested; n > 0 {
		names, rest = names[:mostSuggested], fmt.Sprintf(" and %d more: adze models %s --check", n, server)
	}
	failed.Hint = strings.TrimSpace(failed.Hint) + "\n" + server + " has " + strings.Join(names, ", ") + rest
}
