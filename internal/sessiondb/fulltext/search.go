package fulltext

import (
	"context"
	"errors"
	"time"

	"adze/internal/sessiondb"
	"adze/session"
	"adze/tool"
)

// A Query selects entries. Zero filters match everything.
type Query struct {
	Text   string    // words and "phrases", all required; the last word may be a prefix
	Folder string    // of the session
	Since  time.Time // entries of this time or later
	Skip   int       // number of the newest to skip
	Limit  int       // maximum number; 0 means 20
}

const defaultLimit = 20

// A Hit is a matching entry.
type Hit struct {
	Session session.ID  `json:"session"`
	Title   string      `json:"title"` // of the session
	Cwd     string      `json:"cwd"`
	Agent   string      `json:"agent,omitempty"` // of a subagent
	Seq     int64       `json:"seq"`             // the entry's number in the session's log
	Time    time.Time   `json:"time"`
	Kind    Kind        `json:"kind"`
	Tool    string      `json:"tool,omitempty"`
	Message string      `json:"message"` // the matching one, or that of the call
	Call    tool.CallID `json:"call,omitempty"`
	Snippet Snippet     `json:"snippet"`
}

// ErrNoWords means a query has neither a letter nor a digit.
var ErrNoWords = errors.New("nothing to look for: give a word with a letter or a digit in it")

// Search returns the entries that contain all words, newest session and newest entry first, and
// whether there are more. It finds entries that Update has read.
func Search(ctx context.Context, logs *sessiondb.Store, q Query) (hits []Hit, more bool, err error) {
	terms := termsOf(q.Text)
	if len(terms) == 0 {
		return nil, false, ErrNoWords
	}
	if q.Limit <= 0 {
		q.Limit = defaultLimit
	}
	m := sessiondb.Match{Query: match(terms), Folder: q.Folder, Since: q.Since, Skip: q.Skip, Limit: q.Limit + 1}
	err = logs.Matching(ctx, m, func(f sessiondb.ScanResult) error {
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

// named sets the hits' sessions.
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
