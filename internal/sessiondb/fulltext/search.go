package fulltext

import (
	"context"
	"errors"
	"math"
	"time"

	"adze/internal/sessiondb"
	"adze/session"
	"adze/tool"
)

// Query is what to look for; the zero values of its filters let everything through.
type Query struct {
	Text   string    // words and "phrases", all of which have to be there; the last word may be the beginning of one
	Folder string    // of sessions that work there
	Since  time.Time // said or done then or later
	Skip   int       // so many of the newest are left out
	Limit  int       // at most so many; if 0, 20
}

// defaultLimit is how many hits are looked for unless a query says.
const defaultLimit = 20

// Hit is an entry that was found.
type Hit struct {
	Session session.ID  `json:"session"`
	Title   string      `json:"title"` // of the session
	Cwd     string      `json:"cwd"`
	Agent   string      `json:"agent,omitempty"` // of a subagent
	Seq     int64       `json:"seq"`             // of the entry, in the log of the session
	Time    time.Time   `json:"time"`
	Kind    Kind        `json:"kind"`
	Tool    string      `json:"tool,omitempty"`
	Message string      `json:"message"` // the one that it is, or that made the call
	Call    tool.CallID `json:"call,omitempty"`
	Snippet Snippet     `json:"snippet"`
}

// ErrNoWords is the answer to a query without a letter or a digit.
var ErrNoWords = errors.New("nothing to look for: give a word with a letter or a digit in it")

// Search returns what holds all words of a query, the newest session first, in it the newest first,
// and whether there is more. It looks into what Update has read.
func (x *Index) Search(ctx context.Context, q Query) (hits []Hit, more bool, err error) {
	terms := termsOf(q.Text)
	if len(terms) == 0 {
		return nil, false, ErrNoWords
	}
	if q.Limit <= 0 {
		q.Limit = defaultLimit
	}
	err = x.mended(func() error {
		hits, more, err = x.search(ctx, q, terms)
		return err
	})
	return hits, more, err
}

func (x *Index) search(ctx context.Context, q Query, terms []term) (hits []Hit, more bool, err error) {
	query, args := "SELECT rowid FROM words WHERE words MATCH ?", []any{match(terms)}
	if q.Folder != "" || !q.Since.IsZero() {
		query += " AND rowid >> 32 IN (SELECT session FROM read WHERE updated >= ? AND (cwd = ? OR ? = ''))"
		args = append(args, nanos(q.Since), q.Folder, q.Folder)
	}
	rows, err := x.db.QueryContext(ctx, query+" ORDER BY rowid DESC", args...)
	if err != nil {
		return nil, false, err
	}
	defer rows.Close()
	skip, heads := q.Skip, map[session.ID]session.Head{}
	for rows.Next() && !more {
		var row int64
		if err := rows.Scan(&row); err != nil {
			return nil, false, err
		}
		if q.Since.IsZero() && skip > 0 { // without a look into the entry
			skip--
			continue
		}
		h, ok, err := x.hit(ctx, row, q, terms, heads)
		switch {
		case err != nil:
			return nil, false, err
		case !ok:
		case skip > 0:
			skip--
		case len(hits) == q.Limit:
			more = true
		default:
			hits = append(hits, h)
		}
	}
	return hits, more, rows.Err()
}

// nanos is a time in nanoseconds since 1970; one that is out of reach is the nearest within.
func nanos(t time.Time) int64 {
	switch {
	case t.Year() < 1700:
		return math.MinInt64
	case t.Year() > 2250:
		return math.MaxInt64
	}
	return t.UnixNano()
}

// hit looks at an entry that the index found; if false, the log has it no more, or a filter leaves
// it out.
func (x *Index) hit(ctx context.Context, row int64, q Query, terms []term, heads map[session.ID]session.Head) (h Hit, ok bool, err error) {
	num, seq := placed(row)
	var found sessiondb.Found
	err = x.logs.Range(ctx, num, seq-1, seq, types(), func(f sessiondb.Found) error { found = f; return nil })
	if err != nil || found.Session == "" || found.Entry.Time.Before(q.Since) {
		return h, false, err
	}
	w, ok := wordsOf(found)
	if !ok {
		return h, false, nil
	}
	head, known := heads[found.Session]
	if !known {
		if head, err = x.head(ctx, found.Session); err != nil {
			return h, false, err
		}
		heads[found.Session] = head
	}
	info := head.Info()
	return Hit{
		Session: found.Session, Title: head.Title(), Cwd: info.Cwd, Agent: info.Agent, Seq: seq, Time: found.Entry.Time,
		Kind: w.kind, Tool: w.tool, Message: w.message, Call: w.call, Snippet: snippetOf(w.text, terms),
	}, true, nil
}

func (x *Index) head(ctx context.Context, id session.ID) (session.Head, error) {
	heads, _, err := x.logs.Page(ctx, sessiondb.Filter{All: true, Prefix: string(id)})
	for _, h := range heads {
		if h.ID == id {
			return h, nil
		}
	}
	return session.Head{}, err
}
