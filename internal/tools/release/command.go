package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// output runs go or git and returns its output. An error includes standard error.
func output(ctx context.Context, env []string, program string, args ...string) ([]byte, error) {
	c := exec.CommandContext(ctx, program, args...)
	c.Env = append(os.Environ(), env...)
	var out, said bytes.Buffer
	c.Stdout, c.Stderr = &out, &said
	if err := c.Run(); err != nil {
		return nil, fmt.Errorf("%s %s: %w\n%s", program, strings.Join(args, " "), err, bytes.TrimSpace(said.Bytes()))
	}
	return out.Bytes(), nil
}

// environment returns a target's build environment, without local settings.
func (t Target) environment() []string {
	return []string{"CGO_ENABLED=0", "GOFLAGS=", "GOOS=" + t.System, "GOARCH=" + t.Arch, "GOAMD64=v1", "GOARM64=v8.0"}
}
