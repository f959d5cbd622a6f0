// Package fulltext finds what was said and done in stored sessions by its words: prompts, answers,
// calls as far as their tools allow them to be logged, and their results.
//
// The one rule: the words are made after the log and from nothing else, and what the log let go of
// is gone from them, too. They stand in the store's own file (sessiondb/words.go); a run that does
// not search neither makes nor reads them.
//
// Start reading at Update and Search (search.go); text.go says what of an entry is indexed,
// query.go what a user's words mean, snippet.go what is shown of a hit.
//
// Known limits: a session that is gone on with keeps its place among the others, which is that of
// its beginning. A word is found from its start on, not from its middle; the parts of a name such
// as max_retry_count are words. Chinese, Japanese and Korean are found by every character.
package fulltext

import (
	"context"
	"strings"

	"adze/internal/sessiondb"
)

// Update reads what the logs got since; tell may be nil, and is called with how many entries were
// read of how many. An error of it ends the update, and what was read until then stays.
func Update(ctx context.Context, logs *sessiondb.Store, tell func(done, total int64) error) error {
	return logs.Index(ctx, indexing(tell))
}

func indexing(tell func(done, total int64) error) sessiondb.Words {
	return sessiondb.Words{Types: types(), Progress: tell, Of: func(f sessiondb.Found) string {
		w, ok := wordsOf(f)
		if !ok {
			return ""
		}
		return apart(strings.ToValidUTF8(w.text, " "))
	}}
}
