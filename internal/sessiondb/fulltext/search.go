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
	err = x.mended(ctx, func() error {
		hits, more, err = x.search(ctx, q, terms)
		return err
	})
	return hits, more, err
}

// finding is a search that goes on: what is still to be left out, and what was found.
type finding struct {
	*Index
	q     Query
	terms []term
	skip  int
	hits  []Hit
	more  bool
	heads map[session.ID]session.Head
}

func (x *Index) search(ctx context.Context, q Query, terms []term) ([]Hit, bool, error) {
	f := &finding{Index: x, q: q, terms: terms, skip: q.Skip, heads: map[session.ID]session.Head{}}
	spans, err := x.spans(ctx, q)
	if err != nil {
		return nil, false, err
	}
	for _, s := range spans {
		if err := f.within(ctx, s); err != nil || f.more {
			return f.hits, f.more, err
		}
	}
	return f.hits, false, nil
}

// span is rows from one up to another; among holds rows to sessions that a filter lets through, if
// empty, all in it.
type span struct {
	from, to int64
	among    string
	args     []any
}

// maxSpans is up to how many runs of sessions a filter is looked for in one after the other. Each
// takes some 50 µs, however many rows hold the words; with more of them every row that holds the
// words is looked at, at some µs.
const maxSpans = 400

// spans are where to look, the newest first.
func (x *Index) spans(ctx context.Context, q Query) ([]span, error) {
	if q.Folder == "" && q.Since.IsZero() {
		return []span{{to: math.MaxInt64}}, nil
	}
	among, args := " FROM read WHERE updated >= ?", []any{nanos(q.Since)}
	if q.Folder != "" {
		among, args = among+" AND cwd = ?", append(args, q.Folder)
	}
	rows, err := x.db.QueryContext(ctx, "SELECT session"+among+" ORDER BY session DESC", args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []span
	for rows.Next() {
		var num int64
		if err := rows.Scan(&num); err != nil {
			return nil, err
		}
		if n := len(out) - 1; n >= 0 && out[n].from == place(num+1, 0) {
			out[n].from = place(num, 0)
			continue
		}
		if len(out) == maxSpans {
			return []span{{to: math.MaxInt64, among: " AND rowid >> 32 IN (SELECT session" + among + ")", args: args}}, nil
		}
		out = append(out, span{from: place(num, 0), to: place(num+1, 0) - 1})
	}
	return out, rows.Err()
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

// within goes through the rows of a span, until there is more than was asked for.
func (f *finding) within(ctx context.Context, s span) error {
	rows, err := f.db.QueryContext(ctx, "SELECT rowid FROM words WHERE words MATCH ? AND rowid BETWEEN ? AND ?"+s.among+" ORDER BY rowid DESC",
		append([]any{match(f.terms), s.from, s.to}, s.args...)...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() && !f.more {
		var row int64
		if err := rows.Scan(&row); err != nil {
			return err
		}
		if f.q.Since.IsZero() && f.skip > 0 { // without a look into the entry
			f.skip--
			continue
		}
		h, ok, err := f.hit(ctx, row, f.q, f.terms, f.heads)
		switch {
		case err != nil:
			return err
		case !ok:
		case f.skip > 0:
			f.skip--
		case len(f.hits) == f.q.Limit:
			f.more = true
		default:
			f.hits = append(f.hits, h)
		}
	}
	return rows.Err()
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
