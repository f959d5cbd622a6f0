package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

const (
	// A program may ask a remote store.
	credentialTime = time.Minute
	// in bytes
	maxCredential = 64 << 10
)

// printedBy runs a program of the user that prints credentials, and returns its output, which is
// written nowhere. Of a failure only the last line of its errors is told.
func printedBy(ctx context.Context, argv []string) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, credentialTime, fmt.Errorf("it did not end within %s", credentialTime))
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = os.TempDir() // not the workspace, whose files a program might read
	cmd.WaitDelay = time.Second
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &limited{&out, maxCredential}, &limited{&errs, maxCredential}
	err := cmd.Run()
	switch lines := strings.Split(strings.TrimSpace(errs.String()), "\n"); {
	case err == nil:
		return out.Bytes(), nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.Is(err, exec.ErrNotFound):
		return nil, fmt.Errorf("there is no program %s: %w", argv[0], exec.ErrNotFound)
	case lines[len(lines)-1] != "":
		return nil, fmt.Errorf("%s: %s", argv[0], lines[len(lines)-1])
	}
	return nil, fmt.Errorf("%s: %w", argv[0], err)
}

// limited keeps the first bytes of an output.
type limited struct {
	to   io.Writer
	left int
}

// Write implements io.Writer.
func (l *limited) Write(p []byte) (int, error) {
	n := min(len(p), l.left)
	l.left -= n
	if _, err := l.to.Write(p[:n]); err != nil {
		return 0, err
	}
	return len(p), nil
}
