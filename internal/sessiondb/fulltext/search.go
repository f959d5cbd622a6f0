package fulltext

import (
	"context"
	"errors"
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
func Search(ctx context.Context, logs *sessiondb.Store, q Query) (hits []Hit, more bool, err error) {
	terms := termsOf(q.Text)
	if len(terms) == 0 {
		return nil, false, ErrNoWords
	}
	if q.Limit <= 0 {
		q.Limit = defaultLimit
	}
	m := sessiondb.Match{Query: match(terms), Folder: q.Folder, Since: q.Since, Skip: q.Skip, Limit: q.Limit + 1}
	err = logs.Matching(ctx, m, func(f sessiondb.Found) error {
		if more = len(hits) == q.Limit; !more {
			w, _ := wordsOf(f)
			hits = append(hits, Hit{Session: f.Session, Seq: f.Seq, Time: f.Entry.Time,
				Kind: w.kind, Tool: w.tool, Message: w.message, Call: w.call, Snippet: snippetOf(w.text, terms)})
		}
		return nil
	})
	if err != nil {
		return nil, false, err
	}
	return hits, more, named(ctx, logs, hits)
}

// named says of hits which sessions they are of.
func named(ctx context.Context, logs *sessiondb.Store, hits []Hit) error {
	known := map[session.ID]session.Head{}
	for i := range hits {
		h := &hits[i]
		head, ok := known[h.Session]
		if !ok {
			heads, _, err := logs.Page(ctx, sessiondb.Filter{All: true, Prefix: string(h.Session)})
			if err != nil {
				return err
			}
			for _, candidate := range heads {
				if candidate.ID == h.Session {
					head = candidate
				}
			}
			known[h.Session] = head
		}
		info := head.Info()
		h.Title, h.Cwd, h.Agent = head.Title(), info.Cwd, info.Agent
	}
	return nil
}
