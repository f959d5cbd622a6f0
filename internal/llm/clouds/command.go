package clouds

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// DefaultKeyTime is how long the output of a key's command is used.
const DefaultKeyTime = 5 * time.Minute

// Command returns the key that a program of the user prints. It is used for so long; nothing of it
// is stored.
func Command(env Env, provider string, argv []string, keep time.Duration) *Tokens {
	name := fmt.Sprintf("key_command of %s (%s)", provider, argv[0])
	return NewTokens(env, name, func(ctx context.Context) (Token, error) {
		out, err := env.Run(ctx, argv)
		key := string(bytes.TrimSpace(out))
		switch {
		case err != nil:
			return Token{}, hinted{err, "run it yourself to see what it says"}
		case strings.ContainsAny(key, "\r\n\x00"):
			return Token{}, hinted{errors.New("it printed several lines"), "let it print the key alone, on one line"}
		}
		return Token{key, env.Now().Add(keep + early)}, nil
	})
}
