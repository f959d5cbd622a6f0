package mcp

import (
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"adze/internal/cmd"
	"adze/internal/files/fsnotify"
	"adze/internal/text/safeterm"
)

// followEvery is the poll interval for a log on systems without file notifications.
const followEvery = 250 * time.Millisecond

func (s servers) logs() *cobra.Command {
	c := &cobra.Command{Use: "logs NAME", Annotations: cmd.CallableByTools(), Short: "Show what a server wrote to standard error, and when it began and ended",
		Long: "Shows the last 64 KiB of what the program of a server wrote to standard error, over all runs, without secrets that are known.\n" +
			"Lines that begin with --- are adze's own: starts and ends. Of a server with an address there are its failures alone.",
		Example: "  adze mcp logs files\n  adze mcp logs files --follow",
		RunE: func(c *cobra.Command, words []string) error {
			return s.MCP(c.Context(), func(d Manager) error { return s.runLogs(c, d, words[0]) })
		}}
	c.Flags().BoolP("follow", "f", false, "go on until it is interrupted")
	c.Flags().IntP("lines", "n", 0, "only the last `N` lines")
	return c
}

func (s servers) runLogs(c *cobra.Command, d Manager, name string) error {
	if err := d.usable(name); err != nil {
		return err
	}
	whole, file := d.Pool.Log(name)
	text := whole
	if n, _ := c.Flags().GetInt("lines"); n > 0 {
		lines := strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n")
		text = strings.Join(lines[max(len(lines)-n, 0):], "")
		if text != "" && !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
	}
	follow := cmd.Flagged(c, "follow")
	if cmd.Flagged(c, "json") && !follow {
		return s.WriteJSON(map[string]string{"name": name, "file": file, "log": text})
	}
	show := func(text string) error {
		if !cmd.Flagged(c, "json") {
			s.Show("%s", text)
			return nil
		}
		for line := range strings.Lines(text) {
			if err := s.WriteJSON(map[string]string{"name": name, "line": strings.TrimSuffix(line, "\n")}); err != nil {
				return err
			}
		}
		return nil
	}
	if text == "" && !follow {
		s.Show("%s wrote nothing that is kept\n", safeterm.Name(name))
		return nil
	}
	if err := show(text); err != nil || !follow {
		return err
	}
	ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	next, end := fsnotify.Waiter(followEvery, filepath.Dir(file))
	defer end()
	return followed(ctx, next, whole, func() string { text, _ := d.Pool.Log(name); return text }, show)
}

// followed prints additions to a log until ctx ends, and returns next's error.
func followed(ctx context.Context, next func(context.Context) error, before string, read func() string, show func(string) error) error {
	for {
		if now := read(); now != before {
			if err := show(fresh(before, now)); err != nil {
				return err
			}
			before = now
		}
		if next(ctx) != nil {
			return nil
		}
	}
}

// fresh returns the text in now after that of before, whose beginning may be gone.
func fresh(before, now string) string {
	for from := 0; from < len(before); {
		if rest, ok := strings.CutPrefix(now, before[from:]); ok {
			return rest
		}
		next := strings.IndexByte(before[from:], '\n')
		if next < 0 {
			break
		}
		from += next + 1
	}
	return now
}
