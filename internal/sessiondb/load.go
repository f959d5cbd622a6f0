package sessiondb

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"adze/session"
)

func (s *Store) usable() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	return nil
}

// Load returns all entries of id, oldest first. It does not check the chain; Verify does.
func (s *Store) Load(ctx context.Context, id session.ID) ([]session.Entry, error) {
	if err := s.usable(); err != nil {
		return nil, err
	}
	var out []session.Entry
	query := "SELECT '', seq, type, time, data FROM entries WHERE session = (SELECT num FROM sessions WHERE id = ?) ORDER BY seq"
	err := read(s.stream(ctx, query, string(id))).each(ctx, func(f ScanResult) error { out = append(out, f.Entry); return nil })
	if err != nil {
		return nil, err
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%w: %q", session.ErrNotFound, id)
	}
	return out, nil
}

// List returns the sessions, last used first. Long strings in Head.Start and Head.First are
// truncated.
func (s *Store) List(ctx context.Context) ([]session.Head, error) {
	heads, _, err := s.Page(ctx, Filter{All: true})
	return heads, err
}

// A Filter selects sessions. The zero value selects all users' sessions, without subagents'.
type Filter struct {
	Folder       string    // the session's folder; empty means any
	Folders      []string  // or one of these
	FoldersBelow []string  // or one of these or below
	All          bool      // include subagents' sessions
	Tags         []string  // the session must have all of them
	Since        time.Time // last used at this time or later
	Prefix       string    // of the ID
	Skip         int       // number of the newest to skip
	Limit        int       // maximum number; 0 means all
}

// Page returns the selected sessions, last used first, and their number without Skip and Limit (0
// if the page is empty). Long strings in Head.Start and Head.First are truncated.
func (s *Store) Page(ctx context.Context, f Filter) (heads []session.Head, total int, err error) {
	if err := s.usable(); err != nil {
		return nil, 0, err
	}
	where, args := f.where()
	limit := f.Limit
	if limit <= 0 {
		limit = -1
	}
	// Select the page before joining the texts: sorting would carry all sessions' texts.
	rows, err := s.db.QueryContext(ctx, `SELECT num, id, created, s.updated, entries, start, first, total
		FROM (SELECT num AS at, updated, count(*) OVER () AS total FROM sessions`+f.join()+where+` ORDER BY updated DESC, num DESC LIMIT ? OFFSET ?) AS page
		JOIN sessions AS s ON num = at LEFT JOIN openings ON session = num ORDER BY s.updated DESC, num DESC`, append(args, limit, f.Skip)...)
	if err != nil {
		return nil, 0, s.explain("read", err)
	}
	defer rows.Close()
	var nums []int64
	for rows.Next() {
		var h session.Head
		var num, created, updated int64
		var start, first sql.RawBytes
		if err := rows.Scan(&num, &h.ID, &created, &updated, &h.Entries, &start, &first, &total); err != nil {
			return nil, 0, s.explain("read", err)
		}
		h.Created, h.Updated = FromNanos(created), FromNanos(updated)
		h.Start, h.First = raw(start), raw(first)
		heads, nums = append(heads, h), append(nums, num)
	}
	if err := rows.Err(); err != nil {
		return nil, 0, s.explain("read", err)
	}
	rows.Close()
	return heads, total, s.Owner().dress(ctx, heads, nums)
}

// tagged is true for a session that has the tag now.
const tagged = `(SELECT kind FROM labels WHERE labels.session = sessions.num AND value = ? AND kind IN ('tag', 'untag')
	ORDER BY labels.num DESC LIMIT 1) = 'tag'`

// somewhere reports whether the filter restricts the sessions' folders.
func (f Filter) somewhere() bool { return f.Folder != "" || len(f.Folders)+len(f.FoldersBelow) > 0 }

// join adds the texts if the filter needs them.
func (f Filter) join() string {
	if !f.somewhere() && f.All {
		return ""
	}
	return " LEFT JOIN openings ON session = num"
}

func (f Filter) where() (string, []any) {
	terms, args := []string{"true"}, []any(nil)
	add := func(term string, arg ...any) { terms, args = append(terms, term), append(args, arg...) }
	if f.somewhere() {
		var ors []string
		for _, dir := range append([]string{f.Folder}, f.Folders...) {
			if dir != "" {
				ors, args = append(ors, "cwd = ?"), append(args, dir)
			}
		}
		for _, dir := range f.FoldersBelow {
			below := strings.TrimSuffix(dir, string(filepath.Separator)) + string(filepath.Separator)
			ors, args = append(ors, "cwd = ? OR substr(cwd, 1, ?) = ?"), append(args, dir, len([]rune(below)), below)
		}
		add("EXISTS (SELECT 1 FROM (SELECT iif(json_valid(start), json_extract(start, '$.cwd'), NULL) AS cwd) WHERE " + strings.Join(ors, " OR ") + ")")
	}
	if !f.All {
		add("iif(json_valid(start), ifnull(json_extract(start, '$.agent'), ''), '') = ''")
	}
	if !f.Since.IsZero() {
		add("updated >= ?", Nanos(f.Since))
	}
	if f.Prefix != "" {
		add("id >= ? AND substr(id, 1, ?) = ?", f.Prefix, len([]rune(f.Prefix)), f.Prefix)
	}
	for _, t := range f.Tags {
		add(tagged, t)
	}
	return " WHERE " + strings.Join(terms, " AND "), args
}

// raw copies the driver's buffer, keeping nil.
func raw(b sql.RawBytes) json.RawMessage {
	if len(b) == 0 {
		return nil
	}
	return append(json.RawMessage(nil), b...)
}
