//go:build unix

package bench

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"adze/internal/sessiondb"
	"adze/session"
	"adze/tool"
)

// BenchmarkContinue goes on with a session of 100,000 messages, which were summed up at every
// thousandth and at none. Bars: 1 s, 100 MB. ADZE_CONTINUE_MESSAGES sets another number.
func BenchmarkContinue(b *testing.B) {
	messages := 100_000
	if n, err := strconv.Atoi(os.Getenv("ADZE_CONTINUE_MESSAGES")); err == nil {
		messages = n
	}
	for name, every := range map[string]int{"summed": 1000, "whole": messages + 1} {
		b.Run(name, func(b *testing.B) {
			r := newRunner(b, newInstant(b))
			keepLog(b, r, messages, every)
			var p pairs
			for b.Loop() {
				cmd := r.adze("go on")
				cmd.Args = append(cmd.Args[:1:1], append([]string{"--continue"}, cmd.Args[1:]...)...)
				p.add(r.measure(cmd), r.measure(r.floor("go on")))
			}
			p.report(b, 1)
		})
	}
}

// keepLog stores a log of so many messages, of which one in three has a call, with a summary behind
// every so many.
func keepLog(b *testing.B, r runner, messages, every int) {
	b.Helper()
	path := filepath.Join(r.home, "state", "sessions.db")
	s, err := sessiondb.Open(b.Context(), path, sessiondb.Options{})
	must(b, err)
	dir, err := filepath.EvalSymlinks(r.dir)
	must(b, err)
	id, at := session.NewID(time.Unix(1_700_000_000, 0)), time.Unix(1_700_000_000, 0)
	var log []session.Entry
	add := func(kind session.EntryType, data any) {
		raw, err := json.Marshal(data)
		must(b, err)
		at = at.Add(time.Second)
		log = append(log, session.Entry{Type: kind, Time: at, Data: raw})
	}
	add(session.StartEntry, session.Start{Version: "1", Cwd: dir, Model: "openai/m", System: strings.Repeat("You are a coding assistant. ", 100)})
	text := func(text string) []session.Part { return []session.Part{{Kind: session.TextPart, Text: text}} }
	for n, since := 0, 0; n < messages; n += 4 {
		ask, do := fmt.Sprintf("m%d", n+1), fmt.Sprintf("m%d", n+2)
		call := tool.RawCall{ID: tool.CallID(fmt.Sprintf("call_%d", n)), Name: "read", Arguments: `{"path":"internal/session/session.go","limit":20}`}
		answer := session.Message{Role: session.Assistant, Provider: "openai", Model: "m", Stop: "end", Usage: &session.Usage{Input: 900, Output: 40, CacheRead: 9000}, Prompt: strings.Repeat("ab", 32), Duration: time.Second}
		add(session.MessageEntry, session.Message{ID: ask, Role: session.User, Parts: text("Look at part " + strconv.Itoa(n) + " of the session and tell what it does.")})
		first, last := answer, answer
		first.ID, first.Parts, first.Stop = do, []session.Part{{Kind: session.CallPart, Call: &call}}, "calls"
		add(session.MessageEntry, first)
		record := tool.Record{Session: string(id), Message: do, Call: call.ID, Tool: "read", Args: json.RawMessage(call.Arguments), Start: at}
		add(session.OutcomeEntry, session.Ended{Outcome: tool.Outcome{Call: call.ID, Tool: "read", Status: tool.Completed, Title: "session.go",
			Output: strings.Repeat("\tfunc (s *Session) prepare(t *turn) error {\n", 8), Metadata: json.RawMessage(`{"path":"internal/session/session.go","lines":20}`), Record: record}})
		last.ID, last.Parts = fmt.Sprintf("m%d", n+4), text(strings.Repeat("The function takes a step of the turn. ", 6))
		add(session.MessageEntry, last)
		add(session.EndEntry, session.Result{Cause: session.CauseDone, Steps: 2})
		if since += 4; since >= every {
			since = 0
			add(session.CompactEntry, session.Compaction{Summary: session.Message{ID: fmt.Sprintf("m%ds", n+4), Role: session.User, Summary: true, Parts: text("All parts were looked at.")},
				Messages: every, Provider: "openai", Model: "m", Cause: "the context was full"})
		}
		if len(log) > 5000 {
			must(b, s.Append(b.Context(), id, log...))
			log = log[:0]
		}
	}
	must(b, s.Append(b.Context(), id, log...))
	must(b, s.Close())
}
