package natstest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/nats-io/nats.go/jetstream"
)

// Clear deletes streams, or all of them where none is named, and waits until no server that runs
// has a file of them: a server removes the files after it has answered, and can neither delete nor
// make a stream of that name until they are gone.
func (c *Cluster) Clear(ctx context.Context, js jetstream.JetStream, streams ...string) error {
	if len(streams) == 0 {
		names := js.StreamNames(ctx)
		for name := range names.Name() {
			streams = append(streams, name)
		}
		if err := names.Err(); err != nil {
			return err
		}
	}
	for _, name := range streams {
		if err := js.DeleteStream(ctx, name); err != nil && !errors.Is(err, jetstream.ErrStreamNotFound) {
			return err
		}
		for _, s := range c.Servers {
			if err := until(func() error { return s.without(name) }); err != nil {
				return fmt.Errorf("server %s: %w", s.Name, err)
			}
		}
	}
	return nil
}

// without is an error as long as the server runs and has files of a stream, which it keeps below a
// dot while it removes them.
func (s *Server) without(stream string) error {
	if !s.running() {
		return nil
	}
	for _, name := range []string{stream, "." + stream} {
		path := filepath.Join(s.dir, "data", "jetstream", "$G", "streams", name)
		if _, err := os.Stat(path); err == nil {
			return fmt.Errorf("%s is still there", path)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
