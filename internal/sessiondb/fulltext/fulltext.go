// Package fulltext searches stored sessions by words: prompts, answers, the parts of calls their
// tools allow to be logged, and their results.
//
// The one rule: the index is derived from the log alone, and text removed from the log is removed
// from the index too. It is part of the store's own file (sessiondb/words.go); a run that does not
// search neither creates nor reads it.
//
// Start reading at Update and Search (search.go); text.go selects the indexed text, query.go parses
// a user's query, snippet.go formats a hit.
//
// Known limits: a resumed session keeps its place in the results, by its beginning. Words are found
// by their start, not their middle; the parts of a name such as max_retry_count are words. Chinese,
// Japanese and Korean are found by single characters.
package fulltext

import (
	"context"
	"strings"

	"adze/internal/sessiondb"
)

// Update indexes the logs' new entries. tell may be nil; it gets the numbers of entries read and in
// total. Its error ends the update, which keeps the entries read so far.
func Update(ctx context.Context, logs *sessiondb.Store, tell func(done, total int64) error) error {
	return logs.Index(ctx, indexing(tell))
}

func indexing(tell func(done, total int64) error) sessiondb.Words {
	return sessiondb.Words{Types: types(), Progress: tell, Text: func(f sessiondb.ScanResult) string {
		w, ok := wordsOf(f)
		if !ok {
			return ""
		}
		return apart(strings.ToValidUTF8(w.text, " "))
	}}
}
