package sessions

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"adze/internal/cmd"
	"adze/internal/sessiondb"
	"adze/internal/text/usage"
	"adze/session"
)

// selection holds the flags that select sessions: folder, age, number.
type selection struct {
	folder string
	all    bool
	since  string
	limit  int
	page   int
	json   bool
}

// add adds the flags to a command; few is the default number.
func (w *selection) add(c *cobra.Command, few int) {
	f := c.Flags()
	f.StringVar(&w.folder, "folder", "", "of this `FOLDER` instead of the one you are in")
	f.BoolVar(&w.all, "all", false, "of all folders, and of subagents")
	f.StringVar(&w.since, "since", "", "not older than this: 12h, 3d, 2w or a `DATE` such as 2026-11-01")
	f.IntVar(&w.limit, "limit", few, "at most so many; 0: all")
	f.IntVar(&w.page, "page", 1, "the next of them: 2, 3, …")
	f.BoolVar(&w.json, "json", false, "print one JSON object per line")
}

type whichFlags struct {
	folder string // "" for all
	since  time.Time
	skip   int
}

func (w *selection) settle(p past) (s whichFlags, err error) {
	if w.limit < 0 || w.page < 1 {
		return s, usage.Mistake("--limit 20 --page 2 shows the second twenty", "--limit and --page count from 0 and from 1")
	}
	s.skip = w.limit * (w.page - 1)
	if s.since, err = sinceOf(w.since, time.Now()); err != nil {
		return s, err
	}
	switch {
	case w.all && w.folder != "":
		return s, usage.Mistake("use one of them", "--all and --folder exclude each other")
	case w.folder != "":
		return s, s.at(w.folder)
	case !w.all:
		s.folder, err = p.CurrentFolder()
	}
	return s, err
}

// at sets the folder, in the form that sessions store. A deleted folder may still have sessions.
func (s *whichFlags) at(folder string) (err error) {
	if s.folder, err = filepath.Abs(folder); err != nil {
		return err
	}
	if real, err := filepath.EvalSymlinks(s.folder); err == nil {
		s.folder = real
	}
	return nil
}

// sinceOf parses an age or a date; "" means any time.
func sinceOf(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.DateOnly, "2006-01-02 15:04", "2006-01-02T15:04", time.RFC3339} {
		if t, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return t, nil
		}
	}
	if age, err := ageOf(text); err == nil {
		return now.Add(-age), nil
	}
	return time.Time{}, usage.Mistake("such as 12h, 3d, 2w or 2026-11-01", "--since %s is neither a time nor a date", text)
}

// ageOf parses a duration, also in days (d) or weeks (w).
func ageOf(text string) (time.Duration, error) {
	for unit, hours := range map[string]int{"d": 24, "w": 7 * 24} {
		if number, ok := strings.CutSuffix(text, unit); ok {
			n, err := strconv.ParseUint(number, 10, 16)
			return time.Duration(n) * time.Duration(hours) * time.Hour, err
		}
	}
	age, err := time.ParseDuration(text)
	if err == nil && age < 0 {
		err = fmt.Errorf("it is negative")
	}
	return age, err
}

// tellMore prints on stderr how to list the rest. A negative total is unknown.
func (p past) tellMore(w *selection, shown, total int) {
	switch {
	case total < 0:
		fmt.Fprintf(p.Err, "there are more; --page %d shows them\n", w.page+1)
	case shown < total:
		fmt.Fprintf(p.Err, "%d of %d; --page %d shows more\n", shown, total, w.page+1)
	}
}

// one finds the session with an id prefix. For a deleted one it returns an error that explains it.
func (p past) one(ctx context.Context, s *sessiondb.Store, prefix string) (session.Head, error) {
	if prefix == "" {
		return cmd.Newest(ctx, p, s)
	}
	heads, _, err := s.Page(ctx, sessiondb.Filter{All: true, Prefix: prefix})
	if err != nil {
		return session.Head{}, fmt.Errorf("%w: %w", sessiondb.ErrOpen, err)
	}
	if len(heads) == 0 {
		if stone, err := s.Owner().WasRemoved(ctx, prefix); err == nil && stone != nil {
			why := map[string]string{sessiondb.ByRule: " by sessions.keep of the configuration"}[stone.Reason]
			return session.Head{}, usage.Mistake("adze sessions list --all shows those that are left", "the session %s was deleted on %s%s", stone.ID, stone.Time.Local().Format("2006-01-02 15:04"), why)
		}
	}
	id, err := p.Session(heads, prefix)
	if err != nil {
		return session.Head{}, err
	}
	for _, h := range heads {
		if h.ID == id {
			return h, nil
		}
	}
	return session.Head{}, fmt.Errorf("%w: %q", session.ErrNotFound, prefix)
}

func first(words []string) string {
	if len(words) == 0 {
		return ""
	}
	return words[0]
}
