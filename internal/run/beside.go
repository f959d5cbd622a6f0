package run

import (
	"context"
	"errors"
)

func (a *app) beginBeside(ctx context.Context, prompt string) (string, error) {
	return "", errors.New("not here yet")
}
