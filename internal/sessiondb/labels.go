package sessiondb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"adze/session"
)

// Owner holds the operations on a store other than writing logs: naming, tagging and removing
// sessions.
type Owner struct{ *Store }

// Names and tags are not entries: a session's log records only its events. Each change is a row of
// its own, and the latest ones count.

// A LabelKind is a kind of label.
type LabelKind string

const (
	TitleLabel LabelKind = "title" // a user's title precedes a model's; empty removes it
	TagLabel   LabelKind = "tag"
	UntagLabel LabelKind = "untag" // removes a tag
)

// Origins of labels.
const (
	ByPerson = "person"
	ByModel  = "model"
	// ByProgram is adze itself, for a session that waits for a review.
	ByProgram = "adze"
)

// A Label is one change of a session's title or tags.
type Label struct {
	Kind   LabelKind `json:"kind"`
	Value  string    `json:"value"`
	Author string    `json:"by"`
	Time   time.Time `json:"time"`
}

// Label stores a session's labels. The session may be open elsewhere. An unknown one is
// session.ErrNotFound.
func (s Owner) Label(ctx context.Context, id session.ID, labels ...Label) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.writable(); err != nil {
		return err
	}
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return s.explain("save to", err)
	}
	defer tx.Rollback() // no effect after Commit
	num, err := s.number(ctx, tx, id)
	if err != nil {
		return err
	}
	for _, l := range labels {
		if l.Time.IsZero() {
			l.Time = s.options.Now()
		}
		if err := addLabel(ctx, tx, num, l); err != nil {
			return s.explain("save to", err)
		}
	}
	if err := tx.Commit(); err != nil {
		return s.explain("save to", err)
	}
	return nil
}

// writable returns an error if the store is not writable. The caller holds s.mu.
func (s Owner) writable() error {
	if s.closed {
		return ErrClosed
	}
	return s.frozen
}

func addLabel(ctx context.Context, tx *sql.Tx, num int64, l Label) error {
	_, err := tx.ExecContext(ctx, "INSERT INTO labels (session, time, kind, value, origin) VALUES (?, ?, ?, ?, ?)",
		num, Nanos(l.Time), string(l.Kind), l.Value, l.Author)
	return err
}

func (s Owner) number(ctx context.Context, db asker, id session.ID) (num int64, err error) {
	err = db.QueryRowContext(ctx, "SELECT num FROM sessions WHERE id = ?", string(id)).Scan(&num)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, fmt.Errorf("%w: %q", session.ErrNotFound, id)
	}
	if err != nil {
		return 0, s.explain("read", err)
	}
	return num, nil
}

// Labels returns all labels ever given to a session, oldest first.
func (s Owner) Labels(ctx context.Context, id session.ID) ([]Label, error) {
	if err := s.usable(); err != nil {
		return nil, err
	}
	num, err := s.number(ctx, s.db, id)
	if err != nil {
		return nil, err
	}
	all, err := s.labelled(ctx, "WHERE session = ?", num)
	if err != nil || all[num] == nil {
		return nil, err
	}
	return all[num].all, nil
}

type labels struct {
	title, model string
	tags         []string
	all          []Label
}

func (l *labels) name() string {
	if l.title != "" {
		return l.title
	}
	return l.model
}

func (l *labels) take(n Label) {
	l.all = append(l.all, n)
	switch {
	case n.Kind == TitleLabel && n.Author == ByModel:
		l.model = n.Value
	case n.Kind == TitleLabel:
		l.title = n.Value
	case n.Kind == UntagLabel:
		l.tags = slices.DeleteFunc(l.tags, func(t string) bool { return t == n.Value })
	case n.Kind == TagLabel && !slices.Contains(l.tags, n.Value):
		l.tags = append(l.tags, n.Value)
	}
}

// labelled returns the labels, by number, of the sessions selected by where.
func (s Owner) labelled(ctx context.Context, where string, args ...any) (map[int64]*labels, error) {
	rows, err := s.db.QueryContext(ctx, "SELECT session, time, kind, value, origin FROM labels "+where+" ORDER BY num", args...)
	if err != nil {
		return nil, s.explain("read", err)
	}
	defer rows.Close()
	out := map[int64]*labels{}
	for rows.Next() {
		var num, at int64
		var l Label
		if err := rows.Scan(&num, &at, &l.Kind, &l.Value, &l.Author); err != nil {
			return nil, s.explain("read", err)
		}
		if out[num] == nil {
			out[num] = &labels{}
		}
		l.Time = FromNanos(at)
		out[num].take(l)
	}
	if err := rows.Err(); err != nil {
		return nil, s.explain("read", err)
	}
	return out, nil
}

// dress adds titles and tags to heads; nums are their sessions' numbers.
func (s Owner) dress(ctx context.Context, heads []session.Head, nums []int64) error {
	where := ""
	if len(nums) <= 100 {
		where = "WHERE session IN (" + strings.Trim(strings.Join(strings.Fields(fmt.Sprint(nums)), ","), "[]") + ")"
	}
	all, err := s.labelled(ctx, where)
	if err != nil {
		return err
	}
	for i, num := range nums {
		if l := all[num]; l != nil {
			heads[i].Name, heads[i].Tags = l.name(), slices.Sorted(slices.Values(l.tags))
		}
	}
	return nil
}
