package sessions

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"adze/internal/cmd"
	"adze/internal/sessiondb"
	"adze/internal/text/plural"
	"adze/internal/text/usage"
)

func backupCommand(p past) *cobra.Command {
	var lines bool
	c := &cobra.Command{Use: "backup FILE", Annotations: cmd.CallableByTools(), Short: "Copy all sessions into a new file, while others go on", Args: cmd.RangeArgs(1, 1),
		Long: `Copy all sessions into a new file, as they are at one moment, while others go on. What was written is read back, every chain in
it, before the file gets its name. To put it back, end every adze, move sessions.db and sessions.db-wal away, and copy it to
where sessions.db was.`,
		Example: "  adze sessions backup ~/adze-sessions.db",
		RunE:    func(c *cobra.Command, words []string) error { return p.backUp(c.Context(), words[0], lines) }}
	c.Flags().BoolVar(&lines, "json", false, "print one JSON object")
	return c
}

func (p past) backUp(ctx context.Context, file string, lines bool) error {
	began := time.Now()
	return p.Store(ctx, func(s *sessiondb.Store) error {
		sessions, entries, err := s.Owner().Backup(ctx, file)
		if err != nil {
			return usage.Mistake("name a new file in a folder that can be written", "%v", err)
		}
		if lines {
			return p.WriteJSON(map[string]any{"file": file, "sessions": sessions, "entries": entries, "duration_ns": time.Since(began)})
		}
		p.Show("%s: %s, %s, read back and sound\n", file, plural.Of(sessions, "session"), plural.Of(entries, "entry"))
		return nil
	})
}
