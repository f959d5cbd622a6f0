//go:build !unix

package screen

import "context"

// Watch waits for the end of ctx: this system does not tell of new sizes.
func (s *Screen) Watch(ctx context.Context, _ func(w, h int)) { <-ctx.Done() }

// outdated is never true, because no frame for a new width would come.
func (s *Screen) outdated(Frame) bool { return false }
